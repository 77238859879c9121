/**
 * What a comment is about. `line`: of the file after the change, or of the one before it (`LEFT`), with its
 * text; null: the whole file.
 */
export type DiffTarget = {
  path: string
  line: { side: 'LEFT' | 'RIGHT'; number: number; text: string } | null
}

/**
 * Returns a paragraph of a follow-up about a line or a file: what it is about, the line as a quotation, and
 * the comment.
 */
export function followUpAbout({ path, line }: DiffTarget, comment: string): string {
  if (line === null) return `In \`${path}\`:\n\n${comment.trim()}`
  const where =
    line.side === 'LEFT' ? `line ${line.number} before your change, which removes it` : `line ${line.number}`
  const fence = '`'.repeat(Math.max(3, 1 + longestBackticks(line.text)))
  return `In \`${path}\`, ${where}:\n\n${fence}\n${line.text}\n${fence}\n\n${comment.trim()}`
}

const longestBackticks = (text: string) =>
  Math.max(0, ...[...text.matchAll(/`+/g)].map(([ticks]) => ticks.length))
