import { GitError } from '../process/git-error.ts'

/** Returns whether this is a complete SHA-1 object name, as git writes it. */
export function isSha(text: string): boolean {
  return /^[0-9a-f]{40}$/.test(text)
}

/**
 * Returns the text itself when it is a complete SHA, so that nothing else can enter a command line. GitError
 * `failed`.
 */
export function asSha(text: string): string {
  if (!isSha(text)) throw new GitError('failed', 'a commit is named by its whole SHA')
  return text
}
