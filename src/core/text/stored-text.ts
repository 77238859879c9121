/** A text as PostgreSQL can keep it: NUL and halves of surrogate pairs become U+FFFD. Everything else stays as it is. */
export function storedText(text: string): string {
  return text.replaceAll('\0', '\ufffd').toWellFormed()
}
