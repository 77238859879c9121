import { actionTool } from '../../contract/runs/action-tools.ts'
import type { ToolInput } from '../../contract/runs/tools.ts'
import { GlobError } from '../../core/text/glob-pattern.ts'
import { outputText } from '../../core/text/output-text.ts'
import type { ExecResult } from '../../sandbox/port.ts'
import { interrupted, type Tool, type ToolContext, type ToolOutcome, WHOLE_BYTES } from '../tool.ts'
import { BAD_PATTERN, NO_SUCH_PATH, searchCommand } from './search-command.ts'

const SECONDS = 60
/** How many lines trace and model get, and how many are searched and stored. */
const SHOWN_CHARS = 28_000
const SHOWN_LINES = 400
const KEPT_LINES = 10_000
const LINE_CHARS = 500
const ERROR_BYTES = 4_000

export const search: Tool<'search'> = {
  name: actionTool.search,
  async run(context, input) {
    try {
      const { result, bytes } = await runSearch(context, searchCommand(input, { max_lines: KEPT_LINES, max_bytes: WHOLE_BYTES }))
      const failed = failureOf(result, input)
      if (failed !== null) return failed
      const lines = await linesOf(bytes, input, context)
      return outcomeOf(
        { lines, complete: lines.length < KEPT_LINES && bytes.length < WHOLE_BYTES },
        await messageOf(result, context),
        input,
      )
    } catch (error) {
      if (!(error instanceof GlobError)) throw error
      return failure(`Invalid glob ${error.message}.`)
    }
  },
}

const failure = (error: string): ToolOutcome => ({ status: 'error', output: { status: 'error', error } })

async function runSearch({ sandbox, signal }: ToolContext, command: string): Promise<{ result: ExecResult; bytes: Buffer }> {
  const chunks: Uint8Array[] = []
  const box = await sandbox()
  const result = await box.stream({ command, timeout_ms: SECONDS * 1000, max_output_bytes: ERROR_BYTES, signal }, chunk => {
    chunks.push(chunk)
  })
  return { result, bytes: Buffer.concat(chunks) }
}

function failureOf(result: ExecResult, { pattern, path }: ToolInput<'search'>): ToolOutcome | null {
  if (result.status === 'timeout') {
    const message = `The search took longer than ${SECONDS} s. Narrow the path or the glob, or simplify the pattern.`
    return { status: 'timeout', output: { status: 'timeout', error: message }, error: { code: 'tool_timeout', message } }
  }
  if (result.status === 'interrupted') return interrupted()
  if (result.exit_code === NO_SUCH_PATH) return failure(`${path} does not exist.`)
  if (result.exit_code === BAD_PATTERN) return failure(patternError(pattern, Buffer.from(result.output).toString()))
  return null
}

/** Both engines report the pattern as `(?:…)`; PCRE2 reports the position as bytes. */
function patternError(pattern: string, reported: string): string {
  const [, offset, problem] = /error compiling pattern at offset (\d+): (.*)/.exec(reported) ?? []
  if (offset === undefined) return `Invalid pattern: ${reported.trim()}`
  const before = /^unmatched closing/.test(problem ?? '')
    ? pattern.slice(0, unopenedAt(pattern))
    : Buffer.from(pattern)
        .subarray(0, Number(offset) - '(?:'.length)
        .toString()
  return `Invalid pattern: ${problem} at position ${before.length + 1}, after ${JSON.stringify(before.slice(-40))}.`
}

/** A parenthesis too many closes the group around the pattern, and is reported at the end. */
function unopenedAt(pattern: string): number {
  let depth = 0
  for (const { 0: part, index } of pattern.matchAll(/\\.|\[\^?\]?(?:\\.|[^\]])*\]|[()]/gs)) {
    if (part === '(') depth++
    else if (part === ')' && --depth < 0) return index
  }
  return pattern.length
}

/** What could not be searched, in the paths as the model knows them. */
async function messageOf(result: ExecResult, { redactor }: ToolContext): Promise<string> {
  const { output } = outputText(await redactor.bytes(result.output))
  return output.replace(/^(?:rg|fatal): /gm, '').trim()
}

async function linesOf(bytes: Buffer, { files_only }: ToolInput<'search'>, { redactor }: ToolContext): Promise<string[]> {
  const clean = Buffer.from(await redactor.bytes(bytes))
  // What follows the last line break is empty, or was cut.
  const lines = clean.toString().split('\n').slice(0, -1)
  const shown = files_only
    ? [...new Set(lines.flatMap(line => (line.includes('\0') ? [line.slice(0, line.indexOf('\0'))] : [])))]
    : lines.filter(line => !/: binary file matches \(found .* byte around offset \d+\)$/.test(line))
  return shown.map(line => line.replace(/^\.\//, '').replace(/\r$/, '').replaceAll('\0', '\ufffd').slice(0, LINE_CHARS).toWellFormed())
}

function outcomeOf({ lines, complete }: { lines: string[]; complete: boolean }, message: string, input: ToolInput<'search'>): ToolOutcome {
  if (lines.length === 0 && message !== '') return failure(message)
  const matches = firstOf(lines)
  const truncated = lines.length > matches.length || !complete
  return {
    status: 'ok',
    output: {
      status: 'ok',
      matches,
      count: countOf(matches, input),
      total: complete ? countOf(lines, input) : null,
      truncated,
      ...(message !== '' && { note: `Not searched: ${message}` }),
    },
    truncated,
    whole: () => {
      const bytes = Buffer.from(lines.join('\n'))
      return { bytes, total_bytes: bytes.length }
    },
  }
}

/** Lines of context are `file-line-text`, and groups of lines are separated by `--`. */
const countOf = (lines: string[], { context = 0, files_only }: ToolInput<'search'>) =>
  context === 0 || files_only ? lines.length : lines.filter(line => /^.+?:\d+:/.test(line)).length

function firstOf(lines: string[]): string[] {
  let chars = 0
  const beyond = lines.slice(0, SHOWN_LINES).findIndex(line => {
    chars += line.length + 1
    return chars > SHOWN_CHARS
  })
  return lines.slice(0, beyond < 0 ? SHOWN_LINES : beyond)
}
