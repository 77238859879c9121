/** The maximum number of consecutive blank lines that are kept. */
const MAX_BLANK_LINES = 2

/**
 * Returns a text in the form that the rules expect: with normalized line ends, and without the long runs of
 * blank lines that a pattern which begins at a line would rescan from each.
 */
export function plainLines(text: string): string {
  let blank = 0
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/)
  return lines
    .filter(line => {
      blank = line.trim() === '' ? blank + 1 : 0
      return blank <= MAX_BLANK_LINES
    })
    .join('\n')
}
