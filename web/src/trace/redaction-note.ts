/** The note about the redacted values of an entry; null if there are none. */
export function redactionNote(redactions: Record<string, number> | undefined): string | null {
  const names = Object.keys(redactions ?? {}).sort()
  if (redactions === undefined || names.length === 0) return null
  const count = Object.values(redactions).reduce((sum, each) => sum + each, 0)
  return `${count} ${count === 1 ? 'value' : 'values'} redacted: ${names.join(', ')}`
}
