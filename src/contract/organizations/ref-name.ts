/**
 * Returns whether git accepts this name of a branch or tag (the rules of `git check-ref-format`) and it
 * cannot be mistaken for an option.
 */
export function isRefName(name: string): boolean {
  if (name === '' || name === '@' || name.length > 255) return false
  if (/[\u0000-\u0020\u007f~^:?*[\\]/.test(name)) return false
  if (name.startsWith('-') || name.endsWith('.') || name.includes('..') || name.includes('@{')) return false
  return name.split('/').every(part => part !== '' && !part.startsWith('.') && !part.endsWith('.lock'))
}
