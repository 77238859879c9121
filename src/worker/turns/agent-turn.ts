import { type Conversation, rebuildConversation } from '../../agent/conversation.ts'
import type { LoopOutcome } from '../../agent/loop-state.ts'
import { createToolCallModel } from '../../agent/tool-call-model.ts'
import { BUILT_IN_AGENT } from '../../core/agents/registered-agents.ts'
import { stricterPermissions } from '../../core/agents/stricter-permissions.ts'
import type { End } from '../../core/runs/outcome.ts'
import type { Model } from '../../model/port.ts'
import { getOrganization } from '../../store/access/organizations.ts'
import { getRun, type RunRow } from '../../store/runs/runs.ts'
import { type Base, prepareBase } from '../base/base.ts'
import { StartError } from '../base/start-error.ts'
import { type AgentProgram, openAgentProgram } from '../sandbox/agent-program.ts'
import { openRunSecrets } from '../sandbox/run-secrets.ts'
import { setupOf } from '../setup/setup.ts'
import { createAcpLoop } from './acp/acp-loop.ts'
import type { ProgramTurn } from './acp/program-turn.ts'
import { type AgentLoop, createAgentLoop } from './agent-loop.ts'
import { reviewQuestionSender } from './ask-of-run.ts'
import { type AgentTurn, type Begun, beginConversation, openFilesOnce } from './begin-conversation.ts'
import { endOfLoop, type Round } from './end-of-loop.ts'
import { endOfControl } from './outcome-of-error.ts'
import { readJournal } from './recovered-conversation.ts'
import type { TurnOf } from './turn.ts'

/** Runs one turn of the agent, from the conversation in the journal to an end. `run` is claimed. A rejection ends the turn too. */
export async function agentTurn(of: TurnOf): Promise<End> {
  const { deps, writer, run, control, startup } = of
  const model = run.source_type === 'TOOL' ? createToolCallModel(run.prompt) : deps.models.get(run.model)
  if (!model) return notConfigured(run)
  // The secrets first of all: what git reports is redacted.
  const [secrets, setup] = await Promise.all([openRunSecrets(deps, writer, run), setupOf(deps, run)])
  const base = await startup.during('mirror_ms', () => prepareBase(deps, writer, run, control.signal))
  if (control.signal.aborted) return endOfControl(control)
  await using program = await openProgram(of, model)
  const parts = { ...of, model, secrets, base, setup, program }
  const turn: AgentTurn = { ...parts, openFiles: openFilesOnce(parts) }
  const begun = await beginConversation(turn)
  if (begun === null) return endOfControl(control)
  await using loop = await createLoop(turn, begun)
  // Awaited: the gateway of a program, and what tools have opened, close at the end of this function.
  return await runRounds(turn, loop, begun)
}

/** The agents that the operator has registered are programs; everything else of a turn is the same for all agents. */
const createLoop = (turn: AgentTurn, begun: Begun): Promise<AgentLoop> =>
  isProgramTurn(turn) ? createAcpLoop(turn, begun) : createAgentLoop(turn, begun)

const isProgramTurn = (turn: AgentTurn): turn is ProgramTurn => turn.program !== null && turn.model.endpoint !== null

/** Returns what the program of the run's agent needs; null for the built-in agent. */
async function openProgram({ deps, run }: TurnOf, model: Model): Promise<AgentProgram | null> {
  if (run.agent_type === BUILT_IN_AGENT || run.source_type === 'TOOL') return null
  const agent = deps.agents.get(run.agent_type)
  const { endpoint } = model
  if (agent === undefined || endpoint === null || !agent.apis.includes(endpoint.api))
    throw new StartError(
      'setup_failed',
      'agent_unavailable',
      `The agent ${run.agent_type} is not registered here for the model ${run.model}.`,
      'setup',
    )
  // Read in each turn: a change counts from the next one on.
  const organization = await getOrganization(deps.db, run.organization_id)
  const permissions = stricterPermissions(agent.permissions, organization?.agent_permissions ?? null)
  return openAgentProgram(deps, agent, permissions, { ...model, endpoint })
}

const notConfigured = ({ model }: RunRow): End => ({
  kind: 'failed',
  reason: 'model_auth',
  code: 'model_not_configured',
  message: `The model ${model} is no longer configured.`,
  phase: 'model',
})

/** Runs the agent until its answer is published and its checks pass. */
async function runRounds(turn: AgentTurn, loop: AgentLoop, begun: { conversation: Conversation; late: boolean }): Promise<End> {
  const { writer, control } = turn
  const sendQuestion = reviewQuestionSender(turn, loop.meter)
  // Without a base nothing is committed, pushed or proposed.
  const base = turn.run.source_type === 'TOOL' ? null : turn.base
  for (
    let round: Round = { run: turn.run, base, conversation: begun.conversation, late: begun.late, sendQuestion, meter: loop.meter };
    ;
  ) {
    const outcome: LoopOutcome = await loop.run(round.conversation)
    const end = await endOfLoop(turn, round, outcome)
    if (end !== 'sent_back' && end !== 'interrupted') return end
    if (!(await writer.change({ from: ['running'], to: 'running', phase: 'agent' }))) return endOfControl(control)
    round = { ...round, ...(await nextState(turn, round.run, end)) }
  }
}

/** The state after a push is what the next push builds on. */
async function nextState(
  { deps, writer, run: { organization_id, id, turn }, control }: AgentTurn,
  before: RunRow,
  end: 'sent_back' | 'interrupted',
): Promise<{ run: RunRow; base: Base | null; conversation: Conversation }> {
  const run = (await getRun(deps.db, organization_id, id)) ?? before
  const base = await prepareBase(deps, writer, run, control.signal)
  const conversation = rebuildConversation(await readJournal(writer), turn)
  // A message or a limit interrupted the checks: both are handled before the answer counts.
  if (end === 'interrupted') conversation.ending = null
  return { run, base, conversation }
}
