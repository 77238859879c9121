import { readFile, SandboxFileError, streamFile, writeFile } from '../../sandbox/files.ts'
import { failed, type ToolContext, type ToolOutcome } from '../tool.ts'
import { type LineWindow, lineWindow } from './line-window.ts'

/** Bytes of a file that can be edited. */
export const FILE_BYTES = 4 * 1024 ** 2
/** Bytes of a file of which a part can be read, and of the part. */
const STREAMED_BYTES = 256 * 1024 ** 2
const WINDOW_BYTES = 4 * 1024 ** 2

/**
 * Returns some lines of a file of the workspace, whose size does not matter, or an outcome for the model when
 * it cannot be read.
 */
export async function readLines(
  context: ToolContext,
  path: string,
  { first, count }: { first: number; count: number },
): Promise<{ value: LineWindow } | { outcome: ToolOutcome }> {
  const sandbox = await context.sandbox()
  const window = lineWindow(first, count, WINDOW_BYTES)
  const read = await attempt(() =>
    streamFile(sandbox, path, { max_bytes: STREAMED_BYTES, signal: context.signal }, window.add),
  )
  return 'outcome' in read ? read : { value: window.finish() }
}

/**
 * Returns a file of the workspace that can be edited, or an outcome for the model when it is binary, too
 * large or cannot be read.
 */
export async function readBytes(
  context: ToolContext,
  path: string,
): Promise<{ value: Buffer } | { outcome: ToolOutcome }> {
  const sandbox = await context.sandbox()
  const read = await attempt(() => readFile(sandbox, path, { max_bytes: FILE_BYTES, signal: context.signal }))
  if ('outcome' in read || !read.value.includes(0)) return read
  return {
    outcome: {
      status: 'error',
      output: { status: 'error', path, error: `${path} is a binary file and cannot be edited as text` },
    },
  }
}

/** Writes a file of the workspace. Returns null when it was written, otherwise the outcome for the model. */
export async function writeBytes(
  context: ToolContext,
  path: string,
  bytes: Uint8Array,
): Promise<ToolOutcome | null> {
  const sandbox = await context.sandbox()
  const written = await attempt(() => writeFile(sandbox, path, bytes, { signal: context.signal }))
  return 'outcome' in written ? written.outcome : null
}

/**
 * Rejects text with placeholders: a model that writes back what it read would replace values by them. Null:
 * there is none, or `known` has it too.
 */
export function placeholderWritten(
  context: ToolContext,
  path: string,
  text: string,
  known = '',
): ToolOutcome | null {
  const found = context.redactor.placeholders(text).find(placeholder => !known.includes(placeholder))
  if (found === undefined) return null
  const message = `${found} represents a value that is hidden from you, and would replace it. Leave such lines unchanged: change the others with edit or a command. Where a value is needed, use its variable.`
  const { error: _entry, ...outcome } = failed('placeholder', message)
  return { ...outcome, output: { ...outcome.output, path } }
}

/** A file that cannot be had is a result for the model, not an error of ours. */
async function attempt<T>(work: () => Promise<T>): Promise<{ value: T } | { outcome: ToolOutcome }> {
  try {
    return { value: await work() }
  } catch (error) {
    if (!(error instanceof SandboxFileError)) throw error
    const { error: _entry, ...outcome } = failed(error.code, error.message)
    return { outcome }
  }
}
