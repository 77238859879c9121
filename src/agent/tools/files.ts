import { readFile, SandboxFileError, writeFile } from '../../sandbox/files.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import { failed, type ToolContext, type ToolOutcome } from '../tool.ts'

const FILE_BYTES = 4 * 1024 ** 2
const decoder = new TextDecoder('utf-8', { fatal: true, ignoreBOM: true })

/** A text file of the workspace, read inside the sandbox; an outcome for the model when it is none or cannot be read. */
export async function readText(context: ToolContext, path: string): Promise<{ text: string; bytes: number } | { outcome: ToolOutcome }> {
  const sandbox = await context.sandbox()
  const bytes = await attempt(() => readFile(sandbox, path, { max_bytes: FILE_BYTES, signal: context.signal }))
  if ('outcome' in bytes) return bytes
  try {
    return { text: decoder.decode(bytes.value), bytes: bytes.value.length }
  } catch {
    return {
      outcome: { status: 'error', output: { status: 'error', path, error: `${path} is not UTF-8 text (${bytes.value.length} bytes)` } },
    }
  }
}

export async function writeText(
  sandbox: Sandbox,
  context: ToolContext,
  path: string,
  text: string,
): Promise<{ value: number } | { outcome: ToolOutcome }> {
  const bytes = Buffer.from(text.toWellFormed(), 'utf8')
  const written = await attempt(() => writeFile(sandbox, path, bytes, { signal: context.signal }))
  return 'outcome' in written ? written : { value: bytes.length }
}

/** Rejects text with placeholders: a model that writes back what it read would replace values by them. Null: there is none, or `known` has it too. */
export function placeholderWritten(context: ToolContext, path: string, text: string, known = ''): ToolOutcome | null {
  const found = context.redactor.placeholders(text).find(placeholder => !known.includes(placeholder))
  if (found === undefined) return null
  const message = `${found} stands for a value that is hidden from you, and would replace it. Leave such lines unchanged: change the others with edit or a command. Where a value is needed, use its variable.`
  const { error: _entry, ...outcome } = failed('placeholder', message)
  return { ...outcome, output: { ...outcome.output, path } }
}

/** A file that cannot be had is an answer to the model, not an error of ours. */
async function attempt<T>(work: () => Promise<T>): Promise<{ value: T } | { outcome: ToolOutcome }> {
  try {
    return { value: await work() }
  } catch (error) {
    if (!(error instanceof SandboxFileError)) throw error
    const { error: _entry, ...outcome } = failed(error.code, error.message)
    return { outcome }
  }
}
