import { GitError } from '../process/git-error.ts'

/**
 * Returns whether git accepts this name of a branch or tag (the rules of `git check-ref-format`) and it cannot be mistaken for an option.
 */
export function isRefName(name: string): boolean {
  if (name === '' || name === '@' || name.length > 255) return false
  if (/[\u0000-\u0020\u007f~^:?*[\\]/.test(name)) return false
  if (name.startsWith('-') || name.endsWith('.') || name.includes('..') || name.includes('@{')) return false
  return name.split('/').every(part => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
}

/** Returns whether this is a complete SHA-1 object name, as git writes it. */
export function isSha(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text)
}

/** Returns the text itself when it is a complete SHA, so that nothing else can enter a command line. GitError `failed`. */
export function asSha(text: string): string {
  if (!isSha(text)) throw new GitError('failed', 'a commit is named by its whole SHA')
  return text
}
