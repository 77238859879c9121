import { headAndTail } from '../../core/head-and-tail.ts'
import { BASE64_BYTES, outputText } from '../../core/output-text.ts'
import { type Tool, type ToolOutcome, WHOLE_BYTES } from '../tool.ts'

const DEFAULT_SECONDS = 120
/** Bytes of output that the trace shows. */
const OUTPUT_BYTES = 96 * 1024

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
    const shown = headAndTail(result.output, OUTPUT_BYTES)
    const { output, ...binary } = outputText(shown, result.output_bytes)
    const truncated = shown.length < result.output_bytes || (binary.binary === true && shown.length > BASE64_BYTES)
    const whole = () => ({ bytes: result.output, total_bytes: result.output_bytes })
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
    const ok = result.exit_code === 0
    return { status: ok ? 'ok' : 'error', output: { status: ok ? 'ok' : 'error', ...facts }, truncated, whole }
  },
}
