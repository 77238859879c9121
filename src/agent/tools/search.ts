import { actionTool } from '../../contract/runs/action-tools.ts'
import type { ToolInput } from '../../contract/runs/tools.ts'
import { GlobError } from '../../core/text/glob-pattern.ts'
import { outputText } from '../../core/text/output-text.ts'
import type { ExecResult } from '../../sandbox/port.ts'
import { allOf, interrupted, type Tool, type ToolContext, type ToolOutcome, WHOLE_BYTES } from '../tool.ts'
import { BAD_PATTERN, NO_SUCH_PATH, NOT_A_FILE, OF_KERNEL, searchCommand } from './search-command.ts'
import { type FoundLine, foundLines } from './search-lines.ts'

const SECONDS = 60
/**
 * How many lines trace and model get, and how many are searched and stored. Long lines arrive whole, and a
 * part of them is stored.
 */
const SHOWN_CHARS = 28_000
const SHOWN_LINES = 400
const KEPT_LINES = 10_000
const SEARCHED_BYTES = 16 * 1024 ** 2
const ERROR_BYTES = 4_000

export const search: Tool<'search'> = {
  name: actionTool.search,
  async run(context, input) {
    try {
      const { result, bytes } = await runSearch(
        context,
        searchCommand(input, { max_lines: KEPT_LINES, max_bytes: SEARCHED_BYTES }),
      )
      const failed = failureOf(result, input)
      if (failed !== null) return failed
      const found = input.files_only
        ? await filesOf(bytes, context)
        : await foundLines(bytes, WHOLE_BYTES, context.redactor)
      const complete = found.complete && found.lines.length < KEPT_LINES && bytes.length < SEARCHED_BYTES
      return outcomeOf({ lines: found.lines, complete }, await messageOf(result, context))
    } catch (error) {
      if (!(error instanceof GlobError)) throw error
      return failure(`Invalid glob ${error.message}.`)
    }
  },
}

const failure = (error: string): ToolOutcome => ({ status: 'error', output: { status: 'error', error } })

async function runSearch(
  { sandbox, signal }: ToolContext,
  command: string,
): Promise<{ result: ExecResult; bytes: Buffer }> {
  const chunks: Uint8Array[] = []
  const box = await sandbox()
  const result = await box.stream(
    { command, timeout_ms: SECONDS * 1000, max_output_bytes: ERROR_BYTES, signal },
    chunk => {
      chunks.push(chunk)
    },
  )
  return { result, bytes: Buffer.concat(chunks) }
}

function failureOf(result: ExecResult, { pattern, path }: ToolInput<'search'>): ToolOutcome | null {
  if (result.status === 'timeout') {
    const message = `The search took longer than ${SECONDS} s. Narrow the path or the glob, or simplify the pattern.`
    return {
      status: 'timeout',
      output: { status: 'timeout', error: message },
      error: { code: 'tool_timeout', message },
    }
  }
  if (result.status === 'interrupted') return interrupted()
  if (result.exit_code === NO_SUCH_PATH) return failure(`${path} does not exist.`)
  if (result.exit_code === NOT_A_FILE) return failure(`${path} is not a regular file.`)
  if (result.exit_code === OF_KERNEL)
    return failure(`${path} is or contains files of the kernel, which may never end. Name a folder of files.`)
  if (result.exit_code === BAD_PATTERN)
    return failure(patternError(pattern, Buffer.from(result.output).toString()))
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
  for (const { 0: part, index } of pattern.matchAll(/\\.|\[\^?\]?(?:\\.|[^\]\\])*\]?|[()]/gs)) {
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

/** The files of a search for files only: what is before the first NUL of each line. */
async function filesOf(
  output: Buffer,
  { redactor }: ToolContext,
): Promise<{ lines: FoundLine[]; complete: boolean }> {
  const lines = output.toString('latin1').split('\n').slice(0, -1)
  const files = lines.flatMap(line =>
    line.includes('\0') ? [line.slice(0, line.indexOf('\0')).replace(/^\.\//, '')] : [],
  )
  const bytes = Buffer.from([...new Set(files)].join('\n'), 'latin1')
  const clean = Buffer.from(await redactor.bytes(bytes.subarray(0, WHOLE_BYTES))).toString()
  const shown = clean === '' ? [] : clean.split('\n').map(text => ({ text, is_match: true, is_cut: false }))
  return { lines: shown, complete: bytes.length <= WHOLE_BYTES }
}

function outcomeOf(
  { lines, complete }: { lines: FoundLine[]; complete: boolean },
  message: string,
): ToolOutcome {
  if (lines.length === 0 && message !== '') return failure(message)
  const shown = firstOf(lines)
  const cut_lines = shown.filter(({ is_cut }) => is_cut).length
  const truncated = lines.length > shown.length || !complete || cut_lines > 0
  return {
    status: 'ok',
    output: {
      status: 'ok',
      matches: shown.map(({ text }) => text),
      count: countOf(shown),
      total: complete ? countOf(lines) : null,
      truncated,
      ...(cut_lines > 0 && { cut_lines }),
      ...(message !== '' && { note: `Not searched: ${message}` }),
    },
    truncated,
    whole: async redactor =>
      allOf(await redactor.bytes(Buffer.from(lines.map(({ text }) => text).join('\n')))),
  }
}

const countOf = (lines: FoundLine[]) => lines.filter(({ is_match }) => is_match).length

function firstOf(lines: FoundLine[]): FoundLine[] {
  let chars = 0
  const beyond = lines.slice(0, SHOWN_LINES).findIndex(({ text }) => {
    chars += text.length + 1
    return chars > SHOWN_CHARS
  })
  return lines.slice(0, beyond < 0 ? SHOWN_LINES : beyond)
}
