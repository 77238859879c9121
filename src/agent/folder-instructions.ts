import { actionTool } from '../contract/runs/action-tools.ts'
import type { BackgroundRedactor } from '../core/redaction/background-redactor.ts'
import { INSTRUCTION_CHARS, withinChars } from '../core/repositories/instruction-files.ts'
import { folderOf, type InstructionText } from '../core/text/instruction-block.ts'
import type { ModelMessage, ToolCall } from '../model/port.ts'
import { resultsOf } from './compaction/compaction.ts'
import type { ToolResult } from './tool.ts'

/** The instructions of folders of the repository. `folders`: folder → its files; `read`: the first of them that can be read. */
export type FolderInstructions = { folders: ReadonlyMap<string, string[]>; read(paths: string[]): Promise<InstructionText | null> }

/** What a result brings besides: files with instructions, the nearest last. It is a part of the output, and so of the journal. */
export type Delivered = { instructions: InstructionText[] }

type Input = { folder_instructions: FolderInstructions; redactor: BackgroundRedactor }

/**
 * Returns the instructions of the folders of the files that a call used, as far as the conversation does not have them: a compaction may have
 * removed them. Null: there are none.
 */
export async function deliverInstructions(
  { folder_instructions: { folders, read }, redactor }: Input,
  messages: readonly ModelMessage[],
  call: ToolCall,
  result: ToolResult,
): Promise<Delivered | null> {
  if (folders.size === 0 || result.status !== 'ok') return null
  const wanted = new Set(pathsOf(call, result).flatMap(foldersOf))
  const used = [...folders].filter(([folder]) => wanted.has(folder))
  if (used.length === 0) return null
  const known = new Set(messages.flatMap(deliveredIn))
  const found = await Promise.all(used.filter(([, paths]) => !paths.some(path => known.has(path))).map(([, paths]) => read(paths)))
  const nearest_first = found.flatMap(file => file ?? []).toSorted((a, b) => depth(b.path) - depth(a.path))
  if (nearest_first.length === 0) return null
  return { instructions: withinChars(await redactor.value(nearest_first), INSTRUCTION_CHARS).reverse() }
}

/** The files that a call used, as it names them. */
function pathsOf({ name, input }: ToolCall, { output }: ToolResult): string[] {
  if (name === actionTool.apply_patch && Array.isArray(output.files)) return output.files.map(file => String(Object(file).path))
  const used: string[] = [actionTool.read, actionTool.write, actionTool.edit, actionTool.search]
  return used.includes(name) && typeof input?.path === 'string' ? [input.path] : []
}

/** The folders of a path relative to the workspace, and the path itself, which may be a folder. */
function foldersOf(path: string): string[] {
  const relative = path.startsWith('/workspace/') ? path.slice('/workspace/'.length) : path
  if (relative.startsWith('/')) return []
  const parts: string[] = []
  for (const part of relative.split('/')) {
    if (part === '..') parts.pop()
    else if (part !== '.' && part !== '') parts.push(part)
  }
  return parts.map((_, i) => parts.slice(0, i + 1).join('/'))
}

const depth = (path: string) => folderOf(path).split('/').length

function deliveredIn(message: ModelMessage): string[] {
  return resultsOf(message).flatMap(({ output }) => {
    const { instructions } = Object('value' in output ? output.value : null)
    return Array.isArray(instructions) ? instructions.map(file => String(Object(file).path)) : []
  })
}
