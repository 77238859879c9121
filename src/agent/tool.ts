import { type ToolInput, type ToolName, toolInputs, toolSchema } from '../contract/tools.ts'
import { cutStrings } from '../core/cut-text.ts'
import type { ToolCall, ToolSpec } from '../model/port.ts'
import type { Sandbox } from '../sandbox/port.ts'
import { SandboxLostError } from '../sandbox/port.ts'

export type ToolContext = {
  /** The run's sandbox, once the workspace is ready in it. */
  sandbox(): Promise<Sandbox>
  signal: AbortSignal
  on_output(chunk: Uint8Array): void
}

export type ToolStatus = 'ok' | 'error' | 'timeout' | 'interrupted'
/** What a tool did. `error` is set for what deserves an entry of its own: time-out, kill, unknown tool, bad arguments (decisions §5). */
export type ToolOutcome = {
  status: ToolStatus
  output: Record<string, unknown>
  observation?: string | Record<string, unknown> | null
  truncated?: boolean
  error?: { code: string; message: string }
}

export type Tool<N extends ToolName> = {
  name: N
  run(context: ToolContext, input: ToolInput<N>): Promise<ToolOutcome>
}
export type ToolTable = { [N in ToolName]: Tool<N> }

export type ToolResult = ToolOutcome & { duration_ms: number; truncated: boolean }

/** Characters of an outcome that the trace keeps, and that the model is given. */
const TRACE_CHARS = 128 * 1024
const MODEL_CHARS = 30_000

export function toolSpecs(tools: ToolTable): ToolSpec[] {
  return Object.values(tools).map(({ name }) => ({ name, ...toolSchema(name) }))
}

/**
 * Runs one call, once for all tools: unknown names and bad arguments are answered, not thrown; the outcome is bounded;
 * a failing tool is data. Rejects only when the sandbox itself is lost.
 */
export async function runTool(tools: ToolTable, call: ToolCall, context: ToolContext): Promise<ToolResult> {
  const started = performance.now()
  const outcome = await attempt(tools, call, context)
  const { value, cut } = cutStrings(outcome.output, TRACE_CHARS)
  return {
    ...outcome,
    output: value as Record<string, unknown>,
    truncated: cut || outcome.truncated === true,
    duration_ms: performance.now() - started,
  }
}

async function attempt(tools: ToolTable, call: ToolCall, context: ToolContext): Promise<ToolOutcome> {
  if (!Object.hasOwn(tools, call.name))
    return failed(
      'unknown_tool',
      `There is no tool ${JSON.stringify(call.name.slice(0, 100))}. The tools are: ${Object.keys(tools).join(', ')}.`,
    )
  const name = call.name as ToolName
  if (call.input === null) return failed('bad_arguments', `The arguments of ${name} are no JSON object: ${call.invalid ?? 'not an object'}`)
  const parsed = toolInputs[name].safeParse(call.input)
  if (!parsed.success) {
    const details = parsed.error.issues.map(issue => `${issue.path.join('.') || 'input'}: ${issue.message}`).join('; ')
    return failed('bad_arguments', `The arguments of ${name} do not fit: ${details}`)
  }
  if (context.signal.aborted) return interrupted()
  try {
    return await (tools[name] as Tool<ToolName>).run(context, parsed.data)
  } catch (error) {
    if (error instanceof SandboxLostError) throw error
    return { status: 'error', output: { status: 'error', error: error instanceof Error ? error.message : String(error) } }
  }
}

export const failed = (code: string, message: string): ToolOutcome => ({
  status: 'error',
  output: { status: 'error', error: message },
  error: { code, message },
})
export const interrupted = (): ToolOutcome => ({
  status: 'interrupted',
  output: { status: 'interrupted', error: 'Interrupted before it ended.' },
})

/** The outcome as the model hears of it. */
export const forModel = (result: ToolOutcome): Record<string, unknown> =>
  cutStrings(result.output, MODEL_CHARS).value as Record<string, unknown>
