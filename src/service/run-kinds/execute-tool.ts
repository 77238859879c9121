import { actionTool } from '../../contract/runs/action-tools.ts'
import type { RunStatus } from '../../contract/runs/runs.ts'
import type { ExecuteToolInput, ToolExecution } from '../../contract/runs/tool-execution.ts'
import { executableTools, toolSchema } from '../../contract/runs/tools.ts'
import { deadline } from '../../core/deadline.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import { SCRIPTED_MODEL_ID } from '../../core/runs/playbook.ts'
import { isTerminal } from '../../core/runs/run-transitions.ts'
import { ServiceError } from '../../core/service-error.ts'
import { findEntries } from '../../store/runs/log-entries.ts'
import { updateRun } from '../../store/runs/run-changes.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'
import { awaitRun } from '../runs/await-run.ts'
import { acceptRun, planRun } from '../runs/create-run.ts'
import type { MessageSource } from '../runs/message-source.ts'
import { requireRun } from '../runs/runs.ts'
import { stopRun } from '../runs/stop-run.ts'
import { workerState } from '../runs/worker-state.ts'

const by_tool_call: MessageSource = { source_type: 'TOOL', comment: null }
/** Share of the time for a response that a command may use; the rest is for the sandbox. */
const COMMAND_SHARE = 0.8
/** How much later than the response the run ends by itself, for when the process of the response is gone. */
const MARGIN_SECONDS = 30

type Output = { status: string; error?: string; exit_code?: number | null }

/** Returns the tools that `executeTool` takes, with the descriptions and input schemas that a model gets. */
export async function listTools() {
  const tools = executableTools.map(name => {
    const { description, input_schema } = toolSchema(name)
    return { name, description, parameters: input_schema }
  })
  return { tools, total_count: tools.length }
}

/**
 * Executes one tool call in a run of its own and returns its result; a tool that fails is a result
 * (decisions.md#single-tool-calls-are-runs). Stops the run when `gone` aborts or the time is over. Throws
 * `unavailable` when no worker claimed it, and the same errors as a create for the repository.
 */
export async function executeTool(
  ctx: Context,
  input: ExecuteToolInput,
  gone: AbortSignal,
): Promise<ToolExecution> {
  const run_id = await acceptToolCall(ctx, input)
  using over = deadline(ctx.tool_call_seconds * 1_000, gone)
  const ended = await settled(ctx, run_id, over.signal)
  if (!ended) await stopRun(ctx, run_id)
  if (gone.aborted) throw retryLater(`The request ended before the tool did. Run ${run_id} is stopped.`)
  const run = await requireRun(ctx.db, ctx.organization_id, run_id)
  if (!ended && run.started_at === null)
    throw retryLater(`No worker was free within ${ctx.tool_call_seconds} s. Nothing was executed.`)
  const { tool_name } = input
  const filter = { message_type: ['ACTION'], tool_name: [tool_name] }
  const { rows } = await findEntries(ctx.db, ctx.organization_id, run_id, filter, {
    skip: 0,
    limit: 1,
    reverse: true,
  })
  const of_run = { tool_name, agent_run_id: run_id }
  if (rows[0] === undefined) {
    const error =
      run.error_message ?? `The tool did not end within ${ctx.tool_call_seconds} s. Run ${run_id} is stopped.`
    return { success: false, result: null, error, execution_time_ms: 0, ...of_run }
  }
  const { tool_output, duration_ms } = storedJson<{ tool_output: Output; duration_ms: number }>(rows[0].body)
  const success = tool_output.status === 'ok'
  const error = success
    ? null
    : (tool_output.error ?? `The command exited with code ${tool_output.exit_code}.`)
  return { success, result: tool_output, error, execution_time_ms: duration_ms, ...of_run }
}

/** Creates the run. Its prompt is the call, which the worker reads from it. */
async function acceptToolCall(
  ctx: Context,
  { tool_name, arguments: input_arguments = {}, repo_id }: ExecuteToolInput,
): Promise<number> {
  const seconds = ctx.tool_call_seconds
  const max_seconds = Math.max(1, Math.floor(seconds * COMMAND_SHARE))
  const timeout_seconds = Math.min(Number(input_arguments.timeout_seconds ?? max_seconds), max_seconds)
  const input = {
    prompt: JSON.stringify({
      tool_name,
      arguments: tool_name === actionTool.shell ? { ...input_arguments, timeout_seconds } : input_arguments,
    }),
    title: `Tool call: ${tool_name}`,
    repo_id,
    model: SCRIPTED_MODEL_ID,
    auto_create_pr: false,
    budget: { max_wall_seconds: seconds + MARGIN_SECONDS },
  }
  const { plan, problems } = await planRun(ctx, input)
  if (plan === null) throw problems[0]
  const { blocked } = await workerState(ctx.db)
  if (blocked !== null) throw retryLater(`No worker executes tools: ${blocked}.`)
  return ctx.db.transaction(async tx => {
    const { id } = await acceptRun(
      tx,
      { ...ctx, queue_seconds: seconds + MARGIN_SECONDS },
      input,
      plan,
      by_tool_call,
    )
    await updateRun(tx, ctx.organization_id, id, { archived: true })
    await audit(
      tx,
      ctx,
      'tool.executed',
      { type: 'run', id },
      { tool_name, repo_id: plan.repository?.id ?? null },
    )
    return id
  })
}

/** True once the run has ended; false when `over` was aborted before. */
async function settled(ctx: Context, run_id: number, over: AbortSignal): Promise<boolean> {
  const hasEnded = ({ status }: { status: RunStatus }) => isTerminal(status)
  return hasEnded(
    await awaitRun(ctx, run_id, over, () => requireRun(ctx.db, ctx.organization_id, run_id), hasEnded),
  )
}

const retryLater = (message: string) =>
  new ServiceError('unavailable', message, { headers: { 'retry-after': '5' } })
