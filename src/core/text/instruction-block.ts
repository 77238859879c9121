/** A file with instructions of a repository: its beginning, and the bytes of the whole. */
export type InstructionText = { path: string; text: string; bytes: number; truncated: boolean }

/** Returns the file as the agent sees it: between marks that its text cannot contain. */
export function instructionBlock({ path, text, bytes, truncated }: InstructionText): string {
  const inert = text.trim().replace(/<(?=\/?repository_instructions)/gi, '‹')
  const cut = truncated ? `\n[Truncated: these are the first ${text.length} characters of ${bytes} bytes. Read ${path} for the rest.]` : ''
  return `<repository_instructions path="${path}">\n${inert}\n</repository_instructions>${cut}`
}

/** Returns the folder of a path relative to the root, which is the empty text. */
export const folderOf = (path: string): string => path.slice(0, Math.max(0, path.lastIndexOf('/')))
