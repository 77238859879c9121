import { actionTool } from '../../contract/runs/action-tools.ts'
import { BASE64_BYTES, outputText } from '../../core/text/output-text.ts'
import { terminalText } from '../../core/text/terminal/terminal-text.ts'
import { truncateBytes } from '../../core/text/truncate.ts'
import { composed } from '../../redaction/port.ts'
import type { ExecResult, Sandbox } from '../../sandbox/port.ts'
import { type Tool, type ToolContext, type ToolOutcome, type ToolStatus, WHOLE_BYTES } from '../tool.ts'

const DEFAULT_SECONDS = 120
/** Bytes of output that the trace shows. */
const OUTPUT_BYTES = 96 * 1024

const mebibytes = (bytes: number) => Math.round(bytes / 1024 ** 2)

export const shell: Tool<'shell'> = {
  name: actionTool.shell,
  async run(context, input): Promise<ToolOutcome> {
    const sandbox = await context.sandbox()
    const seconds = Math.min(input.timeout_seconds ?? DEFAULT_SECONDS, context.max_seconds)
    const result = await sandbox.exec({
      command: input.command,
      shell: 'persistent',
      timeout_ms: seconds * 1000,
      max_output_bytes: WHOLE_BYTES,
      signal: context.signal,
      on_output: context.on_output,
    })
    const { facts, truncated, keeps_whole, whole } = await shownOf(result, context)
    const { status, error, more } = problemOf(result, sandbox, seconds)
    return {
      status,
      output: { status, ...more, ...(error && { error: error.message }) },
      redacted: facts,
      truncated: truncated || result.status === 'output_limit',
      keeps_whole,
      whole,
      ...(error && { error }),
    }
  },
}

/**
 * The output as the trace shows it, and the whole of what could be kept, as the command wrote it. What a
 * terminal shows is redacted after it is composed: a value that is written in parts is complete only then.
 */
async function shownOf(result: ExecResult, { redactor }: ToolContext) {
  const missing = result.output_bytes - result.output.length
  const gap = result.truncated ? Math.ceil(WHOLE_BYTES / 2) : undefined
  const screen = await terminalText(result.output, gap)
  const clean = await redactor.bytes(screen.bytes, screen.gap)
  const shown = truncateBytes(clean, OUTPUT_BYTES)
  const { output, ...binary } = outputText(shown, clean.length + missing)
  const truncated =
    shown.length < clean.length + missing || (binary.binary === true && shown.length > BASE64_BYTES)
  const rewritten = screen.is_rewritten && { rewritten: true }
  const restarted = result.shell_restarted && { shell_restarted: true }
  return {
    facts: composed({
      exit_code: result.exit_code,
      output,
      ...binary,
      truncated,
      ...rewritten,
      ...restarted,
    }),
    truncated,
    keeps_whole: screen.is_rewritten,
    async whole() {
      const bytes = screen.is_rewritten ? await redactor.bytes(result.output, gap) : clean
      return { bytes, total_bytes: bytes.length + missing }
    },
  }
}

type Problem = {
  status: ToolStatus
  error?: { code: string; message: string }
  more?: Record<string, unknown>
}

/** The status of the command, with an error of its own where a limit ended it. */
function problemOf(result: ExecResult, sandbox: Sandbox, seconds: number): Problem {
  if (result.status === 'timeout') {
    const message = `The command ran longer than ${seconds} s and was killed.${result.shell_restarted ? ' The shell was restarted.' : ''}`
    return { status: 'timeout', error: { code: 'tool_timeout', message } }
  }
  if (result.status === 'interrupted') return { status: 'interrupted' }
  if (result.status === 'output_limit') {
    const message = `The command wrote more than ${result.output_bytes} bytes and was killed.`
    return {
      status: 'error',
      error: { code: 'output_limit', message },
      more: { output_bytes: result.output_bytes },
    }
  }
  if (result.size !== null)
    return { status: 'error', error: { code: 'disk_quota', message: sizeMessage(result.size, sandbox) } }
  const status = result.exit_code === 0 ? 'ok' : 'error'
  return result.memory_kills === 0 ? { status } : { status, ...memoryProblem(result.memory_kills, sandbox) }
}

function sizeMessage({ bytes, files }: NonNullable<ExecResult['size']>, { limits }: Sandbox): string {
  const { max_disk_bytes, max_files } = limits
  const used =
    bytes > max_disk_bytes
      ? `uses ${mebibytes(bytes)} MiB; the limit is ${mebibytes(max_disk_bytes)} MiB`
      : `has ${files} files; the limit is ${max_files}`
  return `The workspace ${used}. Everything that ran in it was killed: remove what is not needed.`
}

function memoryProblem(memory_kills: number, sandbox: Sandbox): Pick<Problem, 'error' | 'more'> {
  const { peak_memory_bytes } = sandbox.usage()
  const killed = `${memory_kills} process${memory_kills === 1 ? ' was' : 'es were'} killed`
  const message = `${killed}: all processes together may take ${mebibytes(sandbox.limits.max_memory_bytes)} MiB of memory.`
  return { error: { code: 'oom', message }, more: { memory_kills, peak_memory_bytes } }
}
