import { actionTool } from '../contract/runs/action-tools.ts'
import { INSTRUCTION_CHARS, withinChars } from '../core/repositories/instruction-files.ts'
import type { InstructionText } from '../core/text/instruction-block.ts'
import type { ModelMessage, ToolCall } from '../model/port.ts'
import { type BackgroundRedactor, RedactionError } from '../redaction/port.ts'
import { resultsOf } from './compaction/compaction.ts'
import type { ToolResult } from './tool.ts'
import { workspacePath } from './workspace-path.ts'

/**
 * The instructions of folders of the repository. `folders`: folder → its files; `read`: for each list of
 * files the first that can be read, or a note; empty when nothing can be read now.
 */
export type FolderInstructions = {
  folders: ReadonlyMap<string, string[]>
  read(candidates: string[][]): Promise<InstructionText[]>
}

/** Folders of one result; those above come with the next one. */
const MAX_FOLDERS = 20

/**
 * What a result brings in addition: files with instructions, the nearest last. It is a part of the output,
 * and so of the journal.
 */
type DeliveredInstructions = { instructions: InstructionText[] }

type Input = { folder_instructions: FolderInstructions; redactor: BackgroundRedactor }

/**
 * Returns the instructions of the folders of the files that a call used, without those that the conversation
 * has: a compaction may have removed them. Null: there are none. Never rejects because of their content: what
 * cannot be redacted is replaced by a note.
 */
export async function deliverInstructions(
  { folder_instructions: { folders, read }, redactor }: Input,
  messages: readonly ModelMessage[],
  call: ToolCall,
  result: ToolResult,
): Promise<DeliveredInstructions | null> {
  if (folders.size === 0 || result.status !== 'ok') return null
  const wanted = new Set(pathsOf(call, result).flatMap(foldersOf))
  const used = [...folders].filter(([folder]) => wanted.has(folder))
  if (used.length === 0) return null
  const known = new Set(messages.flatMap(deliveredIn))
  const missing = used.filter(([, paths]) => !paths.some(path => known.has(path)))
  const nearest = missing.toSorted(([a], [b]) => depth(b) - depth(a)).slice(0, MAX_FOLDERS)
  if (nearest.length === 0) return null
  const found = await read(nearest.map(([, paths]) => paths))
  return found.length === 0
    ? null
    : { instructions: withinChars(await redacted(found, redactor), INSTRUCTION_CHARS).reverse() }
}

/** The call has run by then, so a failure must not lose its result. */
async function redacted(files: InstructionText[], redactor: BackgroundRedactor): Promise<InstructionText[]> {
  return redactor.value(files).catch(error => {
    if (!(error instanceof RedactionError)) throw error
    const note = 'is left out, because it could not be redacted. Read it before you work below its folder.'
    return files.map(({ path, bytes }) => ({
      path: String(redactor.small({ path }).path),
      text: '',
      bytes,
      truncated: true,
      note,
    }))
  })
}

/** The files that a call used, as it names them. */
function pathsOf({ name, input }: ToolCall, { output }: ToolResult): string[] {
  if (name === actionTool.apply_patch && Array.isArray(output.files))
    return output.files.map(file => String(Object(file).path))
  const used: string[] = [actionTool.read, actionTool.write, actionTool.edit, actionTool.search]
  return used.includes(name) && typeof input?.path === 'string' ? [input.path] : []
}

/** The folders of a path relative to the workspace, and the path itself, which may be a folder. */
function foldersOf(path: string): string[] {
  const relative = workspacePath(path)
  if (relative.startsWith('/')) return []
  const parts = relative.split('/')
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'))
}

const depth = (folder: string) => folder.split('/').length

function deliveredIn(message: ModelMessage): string[] {
  return resultsOf(message).flatMap(({ output }) => {
    const { instructions } = Object('value' in output ? output.value : null)
    return Array.isArray(instructions) ? instructions.map(file => String(Object(file).path)) : []
  })
}
