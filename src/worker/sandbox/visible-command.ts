import { terminalText } from '../../core/text/terminal/terminal-text.ts'
import type { ExecResult, Sandbox } from '../../sandbox/port.ts'
import type { LiveChannel } from '../claim/live-channel.ts'
import type { RunWriter } from '../claim/run-writer.ts'

const OUTPUT_BYTES = 64 * 1024

/**
 * A command of the service that viewers follow like a tool of the agent. `input`: what viewers see of the
 * call.
 */
export type VisibleCommand = {
  call_id: string
  tool_name: string
  input: Record<string, unknown>
  command: string
  timeout_ms: number
}

/**
 * Runs a command in the sandbox that `inSandbox` provides, streams its output to viewers and returns the
 * result with the redacted output, as a terminal shows it at its end. Throws what `inSandbox` throws.
 */
export async function runVisibleCommand(
  { writer, live, signal }: { writer: RunWriter; live: LiveChannel; signal: AbortSignal },
  { call_id, tool_name, input, command, timeout_ms }: VisibleCommand,
  inSandbox: (use: (sandbox: Sandbox) => Promise<ExecResult>) => Promise<ExecResult>,
): Promise<{ result: ExecResult; output: string }> {
  const decoder = new TextDecoder('utf-8', { fatal: false })
  const on_output = (chunk: Uint8Array) =>
    live.addText({ event: 'output', call_id, text: decoder.decode(chunk, { stream: true }) })
  const bounds = { shell: 'persistent', timeout_ms, max_output_bytes: OUTPUT_BYTES, signal } as const
  live.toolStarted({ id: call_id, name: tool_name, input })
  const result = await inSandbox(sandbox => sandbox.exec({ command, ...bounds, on_output })).finally(() =>
    live.toolEnded(),
  )
  live.progressed()
  // Redacted before anything else cuts it: half of a secret value is not recognized.
  const screen = await terminalText(result.output, result.truncated ? Math.ceil(OUTPUT_BYTES / 2) : undefined)
  const clean = await writer.redactor.bytes(screen.bytes, screen.gap)
  return { result, output: Buffer.from(clean).toString('utf8') }
}
