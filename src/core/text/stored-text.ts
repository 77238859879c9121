/**
 * Returns a text that PostgreSQL can store: NUL and unpaired surrogates become U+FFFD; everything else is
 * unchanged.
 */
export function storedText(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed()
}
