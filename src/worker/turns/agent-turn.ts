import { type Conversation, rebuildConversation, type TurnEnding } from '../../agent/conversation.ts'
import type { LoopOutcome } from '../../agent/loop-state.ts'
import type { SendQuestion } from '../../agent/side-question.ts'
import { createToolCallModel } from '../../agent/tool-call-model.ts'
import { BUILT_IN_AGENT } from '../../core/agents/registered-agents.ts'
import { stricterPermissions } from '../../core/agents/stricter-permissions.ts'
import { completed, type Failure, type TurnOutcome } from '../../core/runs/outcome.ts'
import type { Model } from '../../model/port.ts'
import { getOrganization } from '../../store/access/organizations.ts'
import { getRun, type RunRow } from '../../store/runs/runs.ts'
import { type Base, prepareBase } from '../base/base.ts'
import { StartError } from '../base/start-error.ts'
import { type AwaitedChecks, awaitChecksUnlessInterrupted } from '../checks/await-checks.ts'
import { publish } from '../publish/publish.ts'
import { type AgentProgram, openAgentProgram } from '../sandbox/agent-program.ts'
import { openRunSecrets } from '../sandbox/run-secrets.ts'
import { setupOf } from '../setup/setup.ts'
import { createAcpLoop } from './acp/acp-loop.ts'
import type { ProgramTurn } from './acp/program-turn.ts'
import { type AgentLoop, createAgentLoop } from './agent-loop.ts'
import {
  type AgentTurn,
  type BegunConversation,
  beginConversation,
  openFilesOnce,
} from './begin-conversation.ts'
import { factsOfAgent, factsOfPush } from './outcome-facts.ts'
import { reviewQuestionSender } from './question-senders.ts'
import { readJournal } from './recovered-conversation.ts'
import type { TurnContext } from './turn.ts'
import type { TurnMeter } from './turn-limits.ts'

/**
 * One round of a turn: the agent works on the conversation, then its answer is published. `base`: null if
 * nothing is published.
 */
type Round = {
  run: RunRow
  base: Base | null
  conversation: Conversation
  started_by_checks: boolean
  sendQuestion: SendQuestion
  meter: TurnMeter
}

const NO_LAST_MESSAGE = 'The agent ended its turn without a last message.'

/**
 * Runs one turn of the agent, from the conversation in the journal to an outcome. `run` is claimed. A
 * rejection ends the turn too.
 */
export async function agentTurn(context: TurnContext): Promise<TurnOutcome> {
  const { deps, writer, run, control, startup } = context
  const model = run.source_type === 'TOOL' ? createToolCallModel(run.prompt) : deps.models.get(run.model)
  if (!model) return notConfigured(run)
  // The secrets first of all: what git reports is redacted.
  const [secrets, setup] = await Promise.all([openRunSecrets(deps, writer, run), setupOf(deps, run)])
  const base = await startup.during('mirror_ms', () => prepareBase(deps, writer, run, control.signal))
  if (control.signal.aborted) return { kind: 'stop' }
  await using program = await openProgram(context, model)
  const parts = { ...context, model, secrets, base, setup, program }
  const turn: AgentTurn = { ...parts, openFiles: openFilesOnce(parts) }
  const begun = await beginConversation(turn)
  if (begun === null) return { kind: 'stop' }
  await using loop = await createLoop(turn, begun)
  // Awaited: the gateway of a program, and what tools have opened, close at the end of this function.
  return await runRounds(turn, loop, begun)
}

/**
 * The agents that the operator has registered are programs; everything else of a turn is the same for all
 * agents.
 */
const createLoop = (turn: AgentTurn, begun: BegunConversation): Promise<AgentLoop> =>
  isProgramTurn(turn) ? createAcpLoop(turn, begun) : createAgentLoop(turn, begun)

const isProgramTurn = (turn: AgentTurn): turn is ProgramTurn =>
  turn.program !== null && turn.model.endpoint !== null

/** Returns what the program of the run's agent needs; null for the built-in agent. */
async function openProgram({ deps, run }: TurnContext, model: Model): Promise<AgentProgram | null> {
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

const notConfigured = ({ model }: RunRow): Failure => ({
  kind: 'failed',
  reason: 'model_auth',
  code: 'model_not_configured',
  message: `The model ${model} is no longer configured.`,
  phase: 'model',
})

/** Runs the agent until its answer is published and its checks pass. */
async function runRounds(
  turn: AgentTurn,
  loop: AgentLoop,
  { conversation, started_by_checks }: BegunConversation,
): Promise<TurnOutcome> {
  const { meter } = loop
  // Without a base nothing is committed, pushed or proposed.
  const base = turn.run.source_type === 'TOOL' ? null : turn.base
  let round: Round = {
    run: turn.run,
    base,
    conversation,
    started_by_checks,
    sendQuestion: reviewQuestionSender(turn, meter),
    meter,
  }
  for (;;) {
    const ended = await loop.run(round.conversation)
    const outcome =
      ended.kind === 'answer' ? await publishAnswer(turn, round, ended) : outcomeOfLoop(turn, ended)
    if (outcome !== 'sent_back' && outcome !== 'interrupted') return outcome
    if (!(await turn.writer.change({ from: ['running'], to: 'running', phase: 'agent' })))
      return { kind: 'stop' }
    round = { ...round, ...(await nextState(turn, round.run, outcome)) }
  }
}

/** The state after a push is what the next push builds on. */
async function nextState(
  { deps, writer, run: { organization_id, id, turn }, control }: AgentTurn,
  before: RunRow,
  outcome: 'sent_back' | 'interrupted',
): Promise<Pick<Round, 'run' | 'base' | 'conversation'>> {
  const run = (await getRun(deps.db, organization_id, id)) ?? before
  const base = await prepareBase(deps, writer, run, control.signal)
  const conversation = rebuildConversation(await readJournal(writer), turn)
  // A message or a limit interrupted the checks: both are handled before the answer counts.
  if (outcome === 'interrupted') conversation.ending = null
  return { run, base, conversation }
}

function outcomeOfLoop({ deps, run }: AgentTurn, ended: Exclude<LoopOutcome, FinalText>): TurnOutcome {
  if (ended.kind === 'ask') return { kind: 'waiting', approval_of: null }
  if (ended.kind === 'failed' && ended.reason === 'model_auth')
    deps.log(
      'error',
      'a model provider rejects its key: no run of this model works until the key is replaced',
      { model: run.model },
    )
  return ended
}

type FinalText = Extract<TurnEnding, { kind: 'answer' }>

/** Publishes the answer and follows its checks, or returns the work to the agent. */
async function publishAnswer(
  turn: AgentTurn,
  round: Round,
  ended: FinalText,
): Promise<TurnOutcome | 'sent_back' | 'interrupted'> {
  const { deps, writer, control, openFiles } = turn
  const { sandbox } = await openFiles()
  const { run, base, sendQuestion, conversation } = round
  const text = ended.text.trim()
  const answer = { text: text === '' ? NO_LAST_MESSAGE : text, thought: ended.thought }
  const facts = await factsOfAgent(turn, { answered: text !== '' })
  if (base === null) return completed(answer, facts)
  if (!(await writer.change({ from: ['running'], to: 'running', phase: 'push' }))) return { kind: 'stop' }
  const work = { deps: { ...deps, sendQuestion }, writer, control, run, base, sandbox }
  const published = await publish({ ...work, answer: answer.text, sent_back: conversation.sent_back })
  if (control.signal.aborted) return { kind: 'stop' }
  if (published.kind === 'sent_back') return 'sent_back'
  if (published.kind === 'waiting' || published.kind === 'failed') return published
  const of_push = await factsOfPush(turn, facts, published)
  if (published.kind !== 'pushed') return completed(answer, of_push)
  const checked = await awaitChecksInTime(turn, round, base, answer.text)
  if (control.signal.aborted || checked.kind === 'left') return { kind: 'stop' }
  if (checked.kind === 'sent_back' || checked.kind === 'interrupted') return checked.kind
  if (checked.kind === 'waiting') return { kind: 'waiting_for_checks', seconds: checked.seconds }
  if (checked.outcome !== null) return completed(answer, { ...of_push, checks: checked })
  const noted = checked.summary === null ? answer.text : `${answer.text}\n\n${checked.summary}`
  return completed({ ...answer, text: noted }, of_push)
}

/** Checks count for the time limits of the turn, and a message interrupts them. */
async function awaitChecksInTime(
  turn: AgentTurn,
  { run, conversation, started_by_checks, meter }: Round,
  base: Base,
  answer: string,
): Promise<AwaitedChecks> {
  const { deps, writer, live, setup, secrets, control, openFiles } = turn
  const [stop, signal] = [meter.watch(), control.stepSignal()]
  const started = async (identities: readonly (string | null)[]) =>
    (await openFiles()).recordBesides(identities)
  const checking = { deps, writer, live, run, base, setup, secrets, started, signal }
  return awaitChecksUnlessInterrupted({
    ...checking,
    rounds: conversation.check_rounds,
    started_by_checks,
    answer,
  }).finally(stop)
}
