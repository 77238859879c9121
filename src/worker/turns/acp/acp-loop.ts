import { AgentError, AgentKilledError } from '../../../acp/agent-session.ts'
import type { Message } from '../../../acp/messages.ts'
import { type Conversation, rebuildConversation, type TurnEnding } from '../../../agent/conversation.ts'
import type { LoopOutcome } from '../../../agent/loop-state.ts'
import { failedCall } from '../../../agent/recorded-call.ts'
import { createTokenEstimate } from '../../../agent/token-estimate.ts'
import { actionTool } from '../../../contract/runs/action-tools.ts'
import { onAbort } from '../../../core/abort.ts'
import { approvalOfCall, digestOfCall } from '../../../core/runs/approved-call.ts'
import { type Failure, outcomeOfLimit } from '../../../core/runs/outcome.ts'
import { Quote } from '../../../core/secrets/quote.ts'
import { withTimeout } from '../../../core/timeout.ts'
import { serverOfTool } from '../../../mcp/tool-names.ts'
import type { ModelMessage } from '../../../model/port.ts'
import { composed } from '../../../redaction/port.ts'
import { takeApproval } from '../../../store/pull-requests/approvals.ts'
import { KilledProgram } from '../../claim/killed-program.ts'
import { countServedCalls, createServedTools } from '../../mcp/served-tools.ts'
import {
  type AgentLoop,
  countLostCalls,
  instructionsOf,
  keepFiles,
  openOutside,
  reachableOf,
} from '../agent-loop.ts'
import type { BegunConversation } from '../begin-conversation.ts'
import { costOfChildren } from '../child-runs.ts'
import { createLoopJournal } from '../loop-journal.ts'
import { callsWithoutOutcome, closeOpenCalls, readJournal } from '../recovered-conversation.ts'
import { createTurnMeter } from '../turn-limits.ts'
import { connectGateway } from './connect-gateway.ts'
import { NO_CALL } from './gateway-meter.ts'
import {
  forgetSession,
  type Next,
  openSession,
  type Prompt,
  promptOfSession,
  reportLostSession,
} from './open-session.ts'
import { createPermissions } from './permissions.ts'
import { admitCall, interrupt, mustStop, onSignals, type State } from './program-state.ts'
import type { ProgramTurn } from './program-turn.ts'
import { waitingMessages } from './prompt-parts.ts'
import { promptWhileActive } from './prompt-while-active.ts'
import { interruptedSummary, UpdateRecorder } from './record-updates.ts'

/** How long an agent may take to end a prompt that was cancelled. */
const CANCEL_TIMEOUT_MS = 10_000
/** How a turn without a last message is remembered. */
const NO_MESSAGE = '[The turn ended without a message.]'

/** The state of a turn that has no process, and has sent and received nothing. */
const BEFORE_FIRST_PROMPT = {
  working: false,
  session: null,
  opened_here: false,
  continued: false,
  limit: null,
  messages_waiting: false,
  approval: null,
  last_failure: null,
  works_with_tools: false,
  cancel() {},
  active() {},
} satisfies Partial<State>

/**
 * Prepares the loop of a turn whose agent is a program of another vendor. It speaks the Agent Client Protocol
 * and calls the model by the gateway; trace, journal, limits and everything after its answer are those of the
 * built-in agent.
 */
export async function createAcpLoop(turn: ProgramTurn, begun: BegunConversation): Promise<AgentLoop> {
  const { writer, live, run, observed, model, secrets, startup } = turn
  const { conversation } = begun
  const instructions = await secrets.redactor.text(await instructionsOf(turn, begun, reachableOf(turn)))
  const meter = createTurnMeter(turn, {
    model,
    // Its calls are planned by the size of their requests.
    estimate: createTokenEstimate('', []),
    noticed: conversation.noticed,
  })
  meter.childrenCost(await costOfChildren(writer))
  countLostCalls(meter, conversation)
  const records = await readJournal(writer)
  const withFiles = keepFiles(turn, () => true)
  const journal = observed.journal(createLoopJournal({ writer, live, model: run.model, withFiles }))
  const outside = openOutside(turn, begun)
  const server_names = new Set(outside.configured.servers.map(({ name }) => name))
  const recorder = new UpdateRecorder({
    writer,
    live,
    journal,
    redactor: secrets.redactor,
    isServed: name => server_names.has(serverOfTool(name) ?? ''),
    onTool: () => startup.reached('first_action_ms'),
    onSignals: signals => onSignals(state, signals),
  })
  const served = createServedTools({
    open: outside.openTools,
    journal,
    redactor: secrets.redactor,
    max_seconds: turn.deps.tool_seconds,
    signal: turn.control.signal,
    admit: () => admitCall(state),
    onSignals(signals) {
      state.active()
      onSignals(state, signals)
    },
  })
  const state: State = {
    ...BEFORE_FIRST_PROMPT,
    turn,
    instructions,
    meter,
    journal,
    recorder,
    served,
    served_calls: countServedCalls(records, run.turn),
    approved: run.approved_sha === null ? null : digestOfCall(run.approved_sha),
    spending: { steps: conversation.turn_steps, tokens: conversation.turn_tokens },
  }
  connectGateway(state)
  conversation.messages.push(
    ...(await closeOpenCalls(writer, callsWithoutOutcome(records), interruptedSummary)),
  )
  return {
    meter,
    run: current => runTurn(state, current),
    async [Symbol.asyncDispose]() {
      await outside.mcp[Symbol.asyncDispose]()
      await outside.requests.reportBlocked()
    },
  }
}

/**
 * Lets the agent work until it has answered every message, or must stop. Nothing of it is left when the
 * outcome is published.
 */
async function runTurn(state: State, conversation: Conversation): Promise<LoopOutcome> {
  const delivered = await state.journal.deliver()
  if (conversation.ending !== null && delivered.length === 0) return conversation.ending
  const messages = [...conversation.messages, ...delivered]
  state.working = true
  const first = { messages, unsent: waitingMessages(messages), earlier: conversation.session }
  const outcome = await sendPrompts(state, first).finally(() => endWork(state))
  return outcome.kind === 'answer' ? recordMessage(state, outcome, true) : outcome
}

async function sendPrompts(state: State, first: Next): Promise<LoopOutcome> {
  const { turn, journal } = state
  let next = first
  for (;;) {
    if (mustStop(turn)) return { kind: 'stop' }
    const outcome = await promptOnce(state, next)
    if (outcome !== 'continue' && outcome.kind !== 'answer') return outcome
    const waiting = await journal.deliver()
    if (outcome !== 'continue' && waiting.length === 0) return outcome
    if (outcome !== 'continue') await recordMessage(state, outcome, false)
    // The journal has what the agent did meanwhile, for a new process.
    const rebuilt = rebuildConversation(await readJournal(turn.writer), turn.run.turn)
    next = { messages: rebuilt.messages, unsent: waiting, earlier: rebuilt.session }
  }
}

/** Ends the process and all that it has requested: their last records come before those of what follows. */
async function endWork(state: State): Promise<void> {
  state.working = false
  await Promise.all([closeSession(state), state.served.interrupt(), state.turn.program.disconnect()])
  await closeCalls(state)
}

/** Sends one prompt, to a new process if there is none, and waits for its end. */
async function promptOnce(state: State, next: Next): Promise<LoopOutcome | 'continue'> {
  const { turn, recorder, meter } = state
  state.messages_waiting = false
  state.approval = null
  state.continued = false
  const signal = turn.control.stepSignal()
  const cancelled = Promise.withResolvers<null>()
  state.cancel = () => {
    state.session?.cancel()
    cancelled.resolve(null)
  }
  using _ = onAbort(signal, state.cancel)
  const stop = meter.watch()
  try {
    const prompting = promptFor(state, next).then(({ session, parts }) =>
      promptWhileActive(session, parts, turn.deps.tool_seconds, active => {
        state.active = active
      }),
    )
    prompting.catch(() => {})
    // A run that stops does not wait for its agent; a cancelled prompt gets a little time to end.
    const late = cancelled.promise.then(() =>
      turn.control.signal.aborted ? null : withTimeout(prompting, CANCEL_TIMEOUT_MS, () => null),
    )
    const reason = await Promise.race([prompting, late])
    if (reason === null) await closeSession(state)
    await closeCalls(state)
    return await outcomeOf(state, reason ?? 'cancelled', signal)
  } catch (error) {
    await closeSession(state)
    await closeCalls(state)
    if (turn.control.signal.aborted) return { kind: 'stop' }
    if (!(error instanceof AgentError)) throw error
    // An agent may report a cancelled prompt or a refused call as an error.
    return state.limit !== null ||
      state.approval !== null ||
      mustStop(turn) ||
      state.messages_waiting ||
      signal.aborted
      ? await outcomeOf(state, 'cancelled', signal)
      : await failedPrompt(state, error)
  } finally {
    state.cancel = () => {}
    stop()
    recorder.takeLastMessage()
  }
}

/** A worker that is fenced writes nothing more, and its run stops anyway. */
async function closeCalls({ turn, recorder }: State): Promise<void> {
  await recorder.closeOpen().catch(error => {
    if (!turn.control.signal.aborted) throw error
  })
}

/** Opens a session if there is none, and returns it with the prompt for the messages that wait. */
async function promptFor(state: State, next: Next): Promise<Prompt> {
  const { turn, recorder, instructions, session, approved, opened_here } = state
  const on_permission = createPermissions({
    policy: turn.program.permissions,
    recorder,
    takeApproval: digest => takeApprovalOf(state, digest),
    waits: () => state.approval !== null,
    onWait: digest => interrupt(state, () => (state.approval = digest)),
  })
  const openServers = state.served.names
  const opening = {
    turn,
    instructions,
    approved,
    opened_here,
    openServers,
    on_permission,
    on_update(update: Message) {
      state.active()
      return recorder.add(update)
    },
  }
  if (session !== null) return promptOfSession(opening, session, next)
  recorder.processStarts()
  const prompt = await openSession(opening, next)
  state.session = prompt.session
  state.opened_here = true
  state.continued = prompt.continued
  return prompt
}

/**
 * A session that fails must not fail again at the next message; one that was continued has a second chance
 * with the conversation as text.
 */
async function failedPrompt(state: State, error: AgentError): Promise<LoopOutcome | 'continue'> {
  // Nothing is known against the session.
  if (error instanceof AgentKilledError)
    throw new KilledProgram('agent_killed', `The agent was killed. ${error.message}`)
  const { turn, continued, last_failure } = state
  await forgetSession(turn)
  if (!continued || (last_failure !== null && last_failure.code !== 'rejected')) return failedBy(state, error)
  await reportLostSession(turn, error.message)
  return 'continue'
}

/**
 * Durable before the call is permitted: a worker that is killed after it asks again. Calls may be requested
 * at once.
 */
async function takeApprovalOf(state: State, digest: string): Promise<boolean> {
  if (state.approved !== digest) return false
  state.approved = null
  const { db, organization_id, run_id, epoch } = state.turn.writer
  return takeApproval(db, { organization_id, run_id, epoch, approved: approvalOfCall(digest) })
}

async function outcomeOf(
  state: State,
  reason: string,
  signal: AbortSignal,
): Promise<LoopOutcome | 'continue'> {
  const { turn, limit, approval, messages_waiting, recorder, last_failure } = state
  if (limit !== null) return outcomeOfLimit(limit)
  if (mustStop(turn)) return { kind: 'stop' }
  // A message that came meanwhile does not wait for the approval.
  if (approval !== null && !messages_waiting)
    return { kind: 'waiting', approval_of: approvalOfCall(approval) }
  // A limit of time interrupts the step, and is then the reason why no other call is planned.
  const planned = signal.aborted ? state.meter.planWithoutNotice(NO_CALL, state.spending) : null
  if (planned?.kind === 'limit') return outcomeOfLimit(planned.limit)
  if (messages_waiting || signal.aborted) return 'continue'
  const answer = recorder.takeLastMessage()
  // Programs report a failed call as an ordinary message, if at all. One that they closed themselves has not
  // failed.
  if (reason === 'end_turn' && last_failure !== null && last_failure.code !== 'aborted')
    return failedCall(last_failure)
  if (reason === 'end_turn') return { kind: 'answer', text: answer.text, thought: answer.thought }
  const redact = (text: string) => turn.secrets.redactor.text(text)
  const stopped = `The agent stopped its turn: ${await new Quote(reason, 100).shown(redact)}.`
  const last = await new Quote(answer.text, 1_000).shown(redact)
  const message = last === '' ? stopped : `${stopped} Its last message: ${last}`
  return { kind: 'failed', reason: 'agent_error', code: 'agent_stopped', message, phase: 'agent' }
}

type LastMessage = Extract<TurnEnding, { kind: 'answer' }>

/** Records a last message of the agent. One that ends the turn is durable before anything is published. */
async function recordMessage(
  { journal, turn, spending }: State,
  answer: LastMessage,
  ends: boolean,
): Promise<LoopOutcome> {
  const { redactor } = turn.secrets
  const text = await redactor.text(answer.text)
  const thought = answer.thought === null ? null : await redactor.text(answer.thought)
  const ends_turn = { kind: 'answer' as const, text, thought }
  const call = { id: `answer-${turn.run.turn}-${spending.steps}`, name: actionTool.finish, input: {} }
  const message: ModelMessage = { role: 'assistant', content: text || NO_MESSAGE }
  const result = { status: 'ok' as const, output: {}, duration_ms: 0, truncated: false, whole: null }
  await journal.toolFinished(
    composed({ call, result, message, response: null, ends_turn: ends ? ends_turn : null, next: null }),
  )
  return ends_turn
}

async function closeSession(state: State): Promise<void> {
  const { session } = state
  state.session = null
  await session?.[Symbol.asyncDispose]()
}

function failedBy({ turn, last_failure }: State, error: AgentError): Failure {
  const text = `${turn.run.agent_type}: ${error.message}`
  if (last_failure?.code === 'auth')
    return {
      kind: 'failed',
      reason: 'model_auth',
      code: 'auth',
      message: last_failure.message,
      phase: 'model',
    }
  return { kind: 'failed', reason: 'agent_error', code: 'agent_failed', message: text, phase: 'agent' }
}
