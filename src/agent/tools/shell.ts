import { BASE64_BYTES, outputText } from '../../core/text/output-text.ts'
import { truncateBytes } from '../../core/text/truncate.ts'
import { type Tool, type ToolOutcome, WHOLE_BYTES } from '../tool.ts'

const DEFAULT_SECONDS = 120
/** Bytes of output that the trace shows. */
const OUTPUT_BYTES = 96 * 1024

const mebibytes = (bytes: number) => Math.round(bytes / 1024 ** 2)

export const shell: Tool<'shell'> = {
  name: 'shell',
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
    const clean = await context.redactor.bytes(result.output, result.truncated ? Math.ceil(WHOLE_BYTES / 2) : undefined)
    const total_bytes = result.output_bytes + clean.length - result.output.length
    const shown = truncateBytes(clean, OUTPUT_BYTES)
    const { output, ...binary } = outputText(shown, total_bytes)
    const truncated = shown.length < total_bytes || (binary.binary === true && shown.length > BASE64_BYTES)
    const whole = () => ({ bytes: clean, total_bytes })
    const facts = {
      exit_code: result.exit_code,
      output,
      ...binary,
      truncated,
      ...(result.shell_restarted && { shell_restarted: true }),
    }
    if (result.status === 'timeout') {
      const message = `The command ran longer than ${seconds} s and was killed.${result.shell_restarted ? ' The shell was started anew.' : ''}`
      return {
        status: 'timeout',
        output: { status: 'timeout', ...facts, error: message },
        truncated,
        whole,
        error: { code: 'tool_timeout', message },
      }
    }
    if (result.status === 'interrupted') return { status: 'interrupted', output: { status: 'interrupted', ...facts }, truncated, whole }
    if (result.status === 'output_limit') {
      const message = `The command wrote more than ${result.output_bytes} bytes and was killed.`
      return {
        status: 'error',
        output: { status: 'error', ...facts, output_bytes: result.output_bytes, error: message },
        truncated: true,
        whole,
        error: { code: 'output_limit', message },
      }
    }
    if (result.size !== null) {
      const { bytes, files } = result.size
      const { max_disk_bytes, max_files } = sandbox.limits
      const held =
        bytes > max_disk_bytes
          ? `${mebibytes(bytes)} MiB, and may hold ${mebibytes(max_disk_bytes)}`
          : `${files} files, and may hold ${max_files}`
      const message = `The workspace holds ${held}. Everything that ran in it was killed: remove what is not needed.`
      return {
        status: 'error',
        output: { status: 'error', ...facts, error: message },
        truncated,
        whole,
        error: { code: 'disk_quota', message },
      }
    }
    const ok = result.exit_code === 0
    const status = ok ? ('ok' as const) : ('error' as const)
    if (result.memory_kills === 0) return { status, output: { status, ...facts }, truncated, whole }
    const { memory_kills } = result
    const { peak_memory_bytes } = sandbox.usage()
    const message = `${memory_kills} process${memory_kills === 1 ? ' was' : 'es were'} killed: all processes together may take ${mebibytes(sandbox.limits.max_memory_bytes)} MiB of memory.`
    return {
      status,
      output: { status, ...facts, memory_kills, peak_memory_bytes, error: message },
      truncated,
      whole,
      error: { code: 'oom', message },
    }
  },
}
