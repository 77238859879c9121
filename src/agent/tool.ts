import { actionTool } from '../contract/runs/action-tools.ts'
import { type ToolInput, type ToolName, toolInputs, toolSchema } from '../contract/runs/tools.ts'
import type { OrganizationSkills } from '../core/repositories/organization-skills.ts'
import { truncateBytes, truncateStrings } from '../core/text/truncate.ts'
import type { Model, ToolCall, ToolSpec } from '../model/port.ts'
import { type BackgroundRedactor, composed, type Redacted, RedactionError } from '../redaction/port.ts'
import type { Sandbox } from '../sandbox/port.ts'
import { SandboxLostError } from '../sandbox/port.ts'
import { PATCH_GRAMMAR } from './edits/patch-format.ts'
import type { RelatedRuns } from './related-runs.ts'
import type { WebAccess } from './tools/web-access.ts'

export type ToolContext = {
  /** Of the call that runs; no other of the run has the same. */
  call_id: string
  /** The runs that this one starts. */
  runs: RelatedRuns
  /** Skills of the organization, which `read` shows below their folder. */
  skills: OrganizationSkills
  /** Reads pages of the web that the run may reach. */
  web: WebAccess
  /** The run's sandbox, once the workspace is ready in it. */
  sandbox(): Promise<Sandbox>
  signal: AbortSignal
  /** The longest time-out that a command may have. */
  max_seconds: number
  on_output(chunk: Uint8Array): void
  /**
   * Redacts what neither model nor trace may contain. A tool that truncates its result does so afterwards.
   */
  redactor: BackgroundRedactor
}

/**
 * The complete output of a tool whose `output` holds only a part. `total_bytes`: what there was; when that
 * is more, `bytes` are the first and the last half of what could be kept.
 */
export type WholeOutput = { bytes: Redacted<Uint8Array>; total_bytes: number }

export type ToolStatus = 'ok' | 'error' | 'timeout' | 'interrupted'
/**
 * What a tool did. `error` is set for what deserves an entry of its own: time-out, kill, unknown tool, bad
 * arguments (specification.md#logs).
 */
export type ToolOutcome = {
  status: ToolStatus
  output: Record<string, unknown>
  /** Fields of the output that the tool has redacted already. */
  redacted?: Redacted<Record<string, unknown>>
  observation?: string | Record<string, unknown> | null
  truncated?: boolean
  /** The outcome shows less than the complete output, although it is not truncated. */
  keeps_whole?: boolean
  /** Called when the outcome was truncated, or `keeps_whole`. */
  whole?: (redactor: BackgroundRedactor) => Promise<WholeOutput>
  error?: { code: string; message: string }
  /**
   * Images as data URIs, which the model is sent in addition to the output. They are not redacted, as those
   * of messages.
   */
  images?: string[]
}

export type Tool<N extends ToolName> = {
  name: N
  run(context: ToolContext, input: ToolInput<N>): Promise<ToolOutcome>
}
/** The tools of a run: all, without those that are off for it. */
export type ToolTable = { [N in ToolName]?: Tool<N> }

/** A tool of another party, whose input only that checks. `spec` is redacted. */
export type ExternalTool = {
  spec: ToolSpec
  run(context: ToolContext, input: Record<string, unknown>): Promise<ToolOutcome>
}
/** By their names, of which none is a name of the service's own tools. */
export type ExternalTools = ReadonlyMap<string, ExternalTool>
const no_tools: ExternalTools = new Map()

export type ToolResult = Omit<ToolOutcome, 'whole' | 'keeps_whole' | 'redacted'> & {
  duration_ms: number
  truncated: boolean
  whole: WholeOutput | null
}

/** Bytes of one output that are kept as well when the trace has only part of it. */
export const WHOLE_BYTES = 1024 ** 2
/**
 * Characters of an outcome that the trace keeps, and that the model is given. A tool that counts its lines
 * returns no more.
 */
const TRACE_CHARS = 128 * 1024
export const MODEL_CHARS = 30_000

/**
 * Returns the tools that a model is offered. All can be called: a conversation may have been started by a
 * model of another family.
 */
export function toolSpecs(tools: ToolTable, family: Model['tool_family'], external = no_tools): ToolSpec[] {
  const own = Object.values(tools)
    .filter(({ name }) => !OTHER_FAMILY[family].includes(name))
    .map(({ name }) => ({
      name,
      ...toolSchema(name),
      ...(name === actionTool.apply_patch && { text_input: PATCH_INPUT }),
    }))
  return [...own, ...[...external.values()].map(({ spec }) => spec)]
}

const PATCH_INPUT = { field: 'patch', grammar: PATCH_GRAMMAR }
/**
 * How files are changed is what models of a family were trained with; the tools of the other one would only
 * distract.
 */
const OTHER_FAMILY: Record<Model['tool_family'], ToolName[]> = {
  edit: [actionTool.apply_patch],
  apply_patch: [actionTool.edit, actionTool.write],
}

/**
 * Runs one call, once for all tools: unknown names and bad arguments are outcomes, not errors; the outcome is
 * redacted and bounded; a failing tool is data. Rejects only when the sandbox itself is lost.
 */
export async function runTool(
  tools: ToolTable,
  call: ToolCall,
  context: ToolContext,
  external = no_tools,
): Promise<Redacted<ToolResult>> {
  const started = performance.now()
  const shown = await shownOutcome(await attempt(tools, external, call, context), context.redactor).catch(
    error => {
      if (!(error instanceof RedactionError)) throw error
      return {
        ...failed('not_redacted', `Its output is not shown: ${error.message}`),
        truncated: false,
        whole: null,
      }
    },
  )
  return composed({ ...shown, duration_ms: performance.now() - started })
}

/**
 * Returns an outcome as the trace has it: redacted, and then truncated. Rejects with RedactionError when it
 * cannot be redacted.
 */
export async function shownOutcome(
  outcome: ToolOutcome,
  redactor: BackgroundRedactor,
): Promise<Omit<ToolResult, 'duration_ms'>> {
  const clean = await redactedOutcome(outcome, redactor)
  const { value, cut } = truncateStrings(clean.output, TRACE_CHARS)
  return {
    ...clean,
    output: value as Record<string, unknown>,
    truncated: cut || outcome.truncated === true,
    whole: await wholeOf(outcome, clean.output, cut, redactor),
  }
}

async function redactedOutcome(
  { whole: _whole, keeps_whole: _kept, redacted, ...outcome }: ToolOutcome,
  { value }: BackgroundRedactor,
) {
  return {
    ...outcome,
    output: composed({ ...(await value(outcome.output)), ...redacted }),
    ...(outcome.observation !== undefined && { observation: await value(outcome.observation) }),
    ...(outcome.error && { error: await value(outcome.error) }),
  }
}

/**
 * What the tool itself can give back whole, otherwise the outcome as it was before it was cut for the trace.
 */
async function wholeOf(
  { whole, truncated, keeps_whole }: ToolOutcome,
  output: Redacted<Record<string, unknown>>,
  cut: boolean,
  redactor: BackgroundRedactor,
): Promise<WholeOutput | null> {
  if (!cut && (!(truncated || keeps_whole) || whole === undefined)) return null
  const { bytes, total_bytes } = whole
    ? await whole(redactor)
    : allOf(composed(Buffer.from(JSON.stringify(output, null, 2))))
  return { bytes: composed(truncateBytes(bytes, WHOLE_BYTES)), total_bytes }
}

export const allOf = (bytes: Redacted<Uint8Array>): WholeOutput => ({ bytes, total_bytes: bytes.length })

async function attempt(
  tools: ToolTable,
  external: ExternalTools,
  call: ToolCall,
  context: ToolContext,
): Promise<ToolOutcome> {
  const other = external.get(call.name)
  if (other === undefined && !Object.hasOwn(tools, call.name)) {
    const names = [...Object.keys(tools), ...external.keys()].join(', ')
    return failed(
      'unknown_tool',
      `There is no tool ${JSON.stringify(call.name.slice(0, 100))}. The tools are: ${names}.`,
    )
  }
  const name = call.name as ToolName
  const { input } = call
  if (input === null)
    return failed(
      'bad_arguments',
      `The arguments of ${name} are not a JSON object: ${call.invalid ?? 'not an object'}`,
    )
  if (other !== undefined) return settled(context, () => other.run(context, input))
  const parsed = toolInputs[name].safeParse(input)
  if (!parsed.success) {
    const details = parsed.error.issues
      .map(issue => `${issue.path.join('.') || 'input'}: ${issue.message}`)
      .join('; ')
    return failed('bad_arguments', `The arguments of ${name} are invalid: ${details}`)
  }
  return settled(context, () => (tools[name] as Tool<ToolName>).run(context, parsed.data))
}

async function settled(context: ToolContext, run: () => Promise<ToolOutcome>): Promise<ToolOutcome> {
  if (context.signal.aborted) return interrupted()
  try {
    return await run()
  } catch (error) {
    if (error instanceof SandboxLostError || error instanceof RedactionError) throw error
    return {
      status: 'error',
      output: { status: 'error', error: error instanceof Error ? error.message : String(error) },
    }
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

/** Returns the outcome as the model receives it. */
export const forModel = (result: Pick<ToolOutcome, 'output'>): Record<string, unknown> =>
  truncateStrings(result.output, MODEL_CHARS).value as Record<string, unknown>
