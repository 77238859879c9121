import type { Conversation } from '../../agent/conversation.ts'
import { runLoop } from '../../agent/loop.ts'
import type { LoopInput, LoopOutcome } from '../../agent/loop-state.ts'
import { modelRetryPolicy } from '../../agent/model-retry-policy.ts'
import { planAgentInstructions } from '../../agent/phases/plan-agent.ts'
import { createTokenEstimate } from '../../agent/token-estimate.ts'
import { toolSpecs } from '../../agent/tool.ts'
import { toolsOf } from '../../agent/tools/table.ts'
import { errorText } from '../../core/log.ts'
import { contextLimit } from '../../core/runs/budget/context-limit.ts'
import { mayChangeFiles } from '../../core/runs/file-tools.ts'
import { NO_SERVERS, serversOfRun } from '../../mcp/run-servers.ts'
import type { ToolCall } from '../../model/port.ts'
import { readFolders } from '../base/commit-notes.ts'
import { organizationSkills } from '../base/organization-skills.ts'
import type { LiveChannel } from '../claim/live-channel.ts'
import { createMcpTools } from '../mcp/mcp-tools.ts'
import { createRunFetch, listReachable } from '../sandbox/egress-of-run.ts'
import { createWebAccess } from '../sandbox/web-access.ts'
import { readKnownCommands } from '../setup/known-commands.ts'
import { leftOutBySetup } from '../setup/setup.ts'
import type { AgentTurn, BegunConversation } from './begin-conversation.ts'
import { costOfChildren, relatedRuns } from './child-runs.ts'
import { createLoopJournal, type JournalContext } from './loop-journal.ts'
import { createTurnMeter, type TurnMeter } from './turn-limits.ts'

/** Runs the agent on a conversation until the loop ends. Disposing ends what its tools have opened. */
export type AgentLoop = AsyncDisposable & {
  meter: TurnMeter
  run(conversation: Conversation): Promise<LoopOutcome>
}

/**
 * Prepares the loop of a turn: instructions, token estimate and limits, with the costs that children and an
 * unfinished model call have caused.
 */
export async function createAgentLoop(turn: AgentTurn, begun: BegunConversation): Promise<AgentLoop> {
  const { writer, model, secrets } = turn
  const { conversation } = begun
  const reachable = reachableOf(turn)
  const [plain, hosts, children_cost] = await Promise.all([
    instructionsOf(turn, begun, reachable),
    reachable,
    costOfChildren(writer),
  ])
  const instructions = await secrets.redactor.text(plain)
  const tools = toolsOf(turn.run, hosts !== null && hosts.length > 0)
  const estimate = createTokenEstimate(instructions, toolSpecs(tools, model.tool_family))
  const outside = openOutside(turn, begun)
  const meter = createTurnMeter(turn, { model, estimate, noticed: conversation.noticed })
  meter.childrenCost(children_cost)
  countLostCalls(meter, conversation)
  return {
    meter,
    run(current) {
      const stop = meter.watch()
      const context = { limit: () => contextLimit(turn.deps.compact_tokens, model), estimate }
      const { web, openTools } = outside
      const parts = {
        ...partsOf(turn, meter),
        ...callbacksOf(turn),
        tools,
        web,
        openTools,
        folder_instructions: folderInstructions(turn, begun),
      }
      return runLoop({ ...parts, context, instructions, conversation: current }).finally(stop)
    },
    async [Symbol.asyncDispose]() {
      await outside.mcp[Symbol.asyncDispose]()
      await outside.requests.reportBlocked()
    },
  }
}

/**
 * Counts model calls of an earlier worker that have no response, which were charged with what was reserved
 * for them.
 */
export function countLostCalls(meter: TurnMeter, conversation: Conversation): void {
  for (const { reservation } of conversation.open_model_calls) {
    if (reservation === null) continue
    meter.charged(reservation)
    conversation.turn_tokens += reservation.input_tokens + reservation.output_tokens
  }
}

/** What the tools of the turn reach outside its sandbox. Nothing is opened yet. */
export function openOutside(
  { deps, writer, live, run, model, control, secrets, base, openFiles }: AgentTurn,
  { instructions }: BegunConversation,
) {
  const requests = createRunFetch(deps, writer, live, base?.repository.id ?? null)
  const mcp_file = base?.repository.use_mcp_file === true ? instructions.mcp_file : null
  const configured =
    run.source_type === 'TOOL' ? NO_SERVERS : serversOfRun(secrets.mcp_servers, mcp_file, secrets.environment)
  const mcp = createMcpTools({
    writer,
    model,
    redactor: secrets.redactor,
    configured,
    reach: {
      sandbox: async () => (await openFiles()).sandbox,
      fetch: requests.fetch,
      signal: control.signal,
    },
  })
  return {
    requests,
    mcp,
    configured,
    web: createWebAccess(run.organization_id, requests.fetch),
    openTools: () => mcp.open(),
  }
}

/** Lists the hosts that the agent of the turn may reach; null: its egress is off. */
export const reachableOf = ({ deps, writer, base }: AgentTurn) =>
  listReachable(deps, writer, base?.repository.id ?? null)

/** Returns the instructions of a turn, not redacted yet. */
export async function instructionsOf(
  { deps, run, base, setup, secrets, program }: AgentTurn,
  { instructions }: BegunConversation,
  hosts: Promise<string[] | null>,
): Promise<string> {
  const [set_up, commands, reachable] = await Promise.all([
    setup === null ? [] : leftOutBySetup(deps, run),
    readKnownCommands(deps, run, setup),
    hosts,
  ])
  return planAgentInstructions({
    agent: program === null ? 'built_in' : 'program',
    repository: base?.repository.full_name ?? null,
    branch: base?.branch ?? null,
    base_ref: base?.ref ?? null,
    secrets: Object.keys(secrets.environment),
    set_up_by: setup?.commands ?? [],
    set_up,
    ...commands,
    reachable,
    ...instructions,
  })
}

function folderInstructions(
  { deps, base }: AgentTurn,
  { instructions: { instructions } }: BegunConversation,
): LoopInput['folder_instructions'] {
  if (base === null || instructions === null) return { folders: new Map(), read: async () => [] }
  const at = { repository_id: base.repository.id, sha: base.sha }
  return {
    folders: instructions.folders,
    read: candidates =>
      readFolders(deps.git, at, candidates).catch(error => {
        deps.log('error', 'the instructions of folders cannot be read; the run continues without them', {
          error: errorText(error),
        })
        return []
      }),
  }
}

function partsOf(turn: AgentTurn, meter: TurnMeter) {
  const { deps, writer, live, run, control, observed, model, secrets } = turn
  const withFiles = keepFiles(turn, mayChangeFiles)
  return {
    model: observed.model(model),
    journal: observed.journal(createLoopJournal({ writer, live, model: run.model, withFiles })),
    meter,
    retry: { ...modelRetryPolicy, left_ms: meter.left_ms },
    request: { reasoning_effort: run.reasoning_effort, cache_key: `agentrun-${run.id}` },
    timeouts: deps.model_timeouts,
    skills: organizationSkills(deps.db, run.organization_id),
    runs: relatedRuns(deps, writer, control, meter.childrenCost),
    redactor: secrets.redactor,
    tool_seconds: deps.tool_seconds,
    signal: control.signal,
  } satisfies Partial<LoopInput>
}

/**
 * Records outcomes with the files of the turn; those of tools that change none, or of a turn without open
 * files, alone.
 */
export const keepFiles =
  ({ opened, control }: AgentTurn, mayChange: (tool_name: string) => boolean): JournalContext['withFiles'] =>
  (tool_name, entries, write) => {
    const checkpoints = mayChange(tool_name) ? opened.current?.checkpoints : undefined
    return checkpoints?.keep(entries, write, control.signal) ?? write(null)
  }

function callbacksOf({ deps, model, live, control, opened, startup, openFiles }: AgentTurn) {
  return {
    sandbox: async () => (await openFiles()).sandbox,
    programs: async () => (model.scripted ? null : deps.programs((await openFiles()).sandbox)),
    sandboxReady: () => opened.current !== null,
    leaving: () => control.leaving,
    stepSignal: () => control.stepSignal(),
    on_model_call: () => void setImmediate(() => opened.ended || openFiles().catch(() => {})),
    on_progress: () => live.progressed(),
    on_delta: delta => live.addText({ event: 'text', ...delta }),
    async on_tool(call, signal) {
      startup.reached('first_action_ms')
      if (mayChangeFiles(call.name)) await opened.current?.checkpoints.idle(signal)
      live.toolStarted(call)
    },
    on_output: liveOutput(live),
  } satisfies Partial<LoopInput>
}

/**
 * Returns a sink for output of tools. Each call has its own decoder, so that a character split between two
 * chunks is not broken.
 */
function liveOutput(live: LiveChannel): (call: ToolCall, chunk: Uint8Array) => void {
  let current: { id: string; decoder: InstanceType<typeof TextDecoder> } | null = null
  return (call, chunk) => {
    if (current?.id !== call.id)
      current = { id: call.id, decoder: new TextDecoder('utf-8', { fatal: false }) }
    live.addText({ event: 'output', call_id: call.id, text: current.decoder.decode(chunk, { stream: true }) })
  }
}
