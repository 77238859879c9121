/** Blank lines in a row that say as much as more of them. */
const MOST_BLANK = 2

/**
 * A text of a repository, or of what ran in it, as rules look through it: in lines that every pattern takes for such, and without the long runs
 * of blank ones that a pattern which begins at a line would go through again from each.
 */
export function plainLines(text: string): string {
  let blank = 0
  const lines = text.split(/\r\n|[\n\r\u2028\u2029]/)
  return lines
    .filter(line => {
      blank = line.trim() === '' ? blank + 1 : 0
      return blank <= MOST_BLANK
    })
    .join('\n')
}
