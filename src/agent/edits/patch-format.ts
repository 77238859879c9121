/** One change of a patch to one file. `line`: where it starts in the patch, from 1. */
export type FilePatch =
  | { kind: 'add'; path: string; line: number; content: string[] }
  | { kind: 'delete'; path: string; line: number }
  | { kind: 'update'; path: string; line: number; move_to: string | null; hunks: Hunk[] }

/**
 * `anchors`: lines of the file after which the hunk is, one after the other. `at_end`: it ends with the file.
 */
export type Hunk = { line: number; anchors: string[]; lines: HunkLine[]; at_end: boolean }
type HunkLine = { sign: ' ' | '-' | '+'; text: string }

/** The text is not a patch; the message names the line of the patch. */
export class PatchError extends Error {
  override name = 'PatchError'
}

/** The grammar of the format, in Lark's notation, for models that a grammar can constrain. */
export const PATCH_GRAMMAR = `start: "*** Begin Patch" LF operation+ "*** End Patch" LF?
operation: add | delete | update
add: "*** Add File: " path LF added_line+
delete: "*** Delete File: " path LF
update: "*** Update File: " path LF move? hunks?
move: "*** Move to: " path LF
hunks: (anchor | hunk_line)+ end_of_file?
anchor: ("@@" | "@@ " /(.+)/) LF
hunk_line: ("+" | "-" | " ") /(.*)/ LF
added_line: "+" /(.*)/ LF
end_of_file: "*** End of File" LF
path: /(.+)/
%import common.LF
`

const BEGIN = '*** Begin Patch'
const END = '*** End Patch'
const OPERATION = /^\*\*\* (Add|Delete|Update) File: (.+)$/
const MOVE = /^\*\*\* Move to: (.+)$/
const END_OF_FILE = '*** End of File'
const MAX_PATH = 4_096
const MAX_PARTS = 1_000

/** `parts`: files, hunks and anchors that were read. */
type Reader = { lines: string[]; at: number; parts: number }

/** Reads a patch in the format of Codex's `apply_patch`. Throws PatchError. */
export function parsePatch(text: string): FilePatch[] {
  const lines = text.split('\n').map(line => line.replace(/\r$/, ''))
  const begin = lines.findIndex(line => line.trim() === BEGIN)
  const end = lines.findLastIndex(line => line.trim() === END)
  if (begin < 0) throw new PatchError(`The patch does not start with "${BEGIN}".`)
  if (end < begin)
    throw new PatchError(`The patch does not end with "${END}": it is incomplete, and nothing was changed.`)
  const reader = { lines: lines.slice(0, end), at: begin + 1, parts: 0 }
  const patches: FilePatch[] = []
  while (reader.at < reader.lines.length) {
    if (reader.lines[reader.at]?.trim() === '') reader.at++
    else patches.push(operation(reader))
  }
  if (patches.length === 0) throw new PatchError('The patch changes no file.')
  return patches
}

function count(reader: Reader, parts: number): void {
  reader.parts += parts
  if (reader.parts <= MAX_PARTS) return
  throw new PatchError(
    `Line ${reader.at + 1} of the patch: more than ${MAX_PARTS} files, hunks and @@ lines. Send several patches.`,
  )
}

function operation(reader: Reader): FilePatch {
  const line = reader.at + 1
  count(reader, 1)
  const header = reader.lines[reader.at++]?.trim() ?? ''
  const [, verb, raw_path = ''] = OPERATION.exec(header) ?? []
  const path = checkedPath(raw_path, line)
  if (verb === 'Add')
    return {
      kind: 'add',
      path,
      line,
      content: taken(reader, text => text.startsWith('+')).map(text => text.slice(1)),
    }
  if (verb === 'Delete') return { kind: 'delete', path, line }
  if (verb === 'Update') return update(reader, path, line)
  const expected = '"*** Add File: PATH", "*** Update File: PATH", "*** Delete File: PATH" or "*** End Patch"'
  throw new PatchError(
    `Line ${line} of the patch is ${JSON.stringify(header.slice(0, 100))}; expected ${expected}.`,
  )
}

function update(reader: Reader, path: string, line: number): FilePatch {
  const [, move_to = null] = MOVE.exec(reader.lines[reader.at]?.trim() ?? '') ?? []
  const destination = move_to === null ? null : checkedPath(move_to, ++reader.at)
  const hunks: Hunk[] = []
  while (reader.at < reader.lines.length && !isOperation(reader)) hunks.push(hunk(reader, path))
  if (hunks.length === 0 && move_to === null)
    throw new PatchError(`Line ${line} of the patch: the update of ${path} has no hunk.`)
  return { kind: 'update', path, line, move_to: destination, hunks }
}

function checkedPath(raw: string, line: number): string {
  const path = raw.trim()
  if (path.length > MAX_PATH)
    throw new PatchError(`Line ${line} of the patch: the path has more than ${MAX_PATH} characters.`)
  return path
}

function hunk(reader: Reader, path: string): Hunk {
  const line = reader.at + 1
  const anchors = taken(reader, text => text.startsWith('@@')).map(anchorText)
  count(reader, 1 + anchors.length)
  const raw = taken(reader, text => text === '' || /^[ +-]/.test(text))
  const at_end = reader.lines[reader.at]?.trim() === END_OF_FILE
  // Blank lines between a hunk and the next operation are not lines of the file.
  if (!at_end && isOperation(reader)) raw.splice(raw.findLastIndex(text => text !== '') + 1)
  if (at_end) reader.at++
  const lines = raw.map(
    (text): HunkLine => ({ sign: (text[0] ?? ' ') as HunkLine['sign'], text: text.slice(1) }),
  )
  if (lines.length > 0) return { line, anchors: anchors.filter(anchor => anchor !== ''), lines, at_end }
  const found = JSON.stringify(reader.lines[reader.at]?.slice(0, 100) ?? END)
  throw new PatchError(
    `Line ${reader.at + 1} of the patch, in the update of ${path}, is ${found}; a line of a hunk starts with " ", "+" or "-".`,
  )
}

/** What follows `@@`; line numbers as in a unified diff are ignored. */
const anchorText = (line: string) => line.replace(/^@@(?: -\d+(?:,\d+)? \+\d+(?:,\d+)? @@)?/, '').trim()

const isOperation = ({ lines, at }: Reader) => at >= lines.length || OPERATION.test(lines[at]?.trim() ?? '')

function taken(reader: Reader, belongs: (line: string) => boolean): string[] {
  const start = reader.at
  while (reader.at < reader.lines.length && belongs(reader.lines[reader.at] ?? '')) reader.at++
  return reader.lines.slice(start, reader.at)
}
