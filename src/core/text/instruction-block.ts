/**
 * A file with instructions of a repository: its beginning, and the bytes of the whole. `note`: why it has no
 * text, as the end of a sentence.
 */
export type InstructionText = { path: string; text: string; bytes: number; truncated: boolean; note?: string }

const MARKS = /<(?=\s*(?:\/\s*)?repository_instructions)|\[(?=\s*these instructions of the repository)/gi

/**
 * Returns a text that contains none of the marks of instructions: only the service writes them. The length
 * stays.
 */
export const inertMarks = (text: string): string => text.replace(MARKS, '‹')

/**
 * Returns a text of the repository between marks that it cannot contain. `attribute`: what it is, without
 * text of the repository.
 */
export const markedText = (attribute: string, text: string): string =>
  `<repository_instructions ${attribute}>\n${inertMarks(text.trim())}\n</repository_instructions>`

/** Returns the file as the agent sees it. */
export function instructionBlock({ path, text, bytes, truncated, note }: InstructionText): string {
  if (note !== undefined) return inertMarks(`[${path} ${note}]`)
  const cut = truncated
    ? `\n[Truncated: these are the first ${text.length} characters of ${bytes} bytes. Read ${path} for the rest.]`
    : ''
  return `${markedText(`path="${path}"`, text)}${cut}`
}

/** Returns the folder of a path relative to the root, which is the empty text. */
export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))
