import { AgentError, type AgentSession, openAgentSession, type PromptPart } from '../../../acp/agent-session.ts'
import type { Conversation, OpenCall } from '../../../agent/conversation.ts'
import type { LoopJournal } from '../../../agent/journal.ts'
import type { LoopOutcome } from '../../../agent/loop-state.ts'
import { actionTool } from '../../../contract/runs/action-tools.ts'
import { onAbort } from '../../../core/abort.ts'
import type { LimitReached } from '../../../core/runs/budget/budget-check.ts'
import { withTimeout } from '../../../core/timeout.ts'
import type { Model, ModelEndpoint, ModelError, ModelMessage } from '../../../model/port.ts'
import { composed } from '../../../redaction/port.ts'
import type { AgentProgram } from '../../sandbox/agent-program.ts'
import { type AgentLoop, instructionsOf } from '../agent-loop.ts'
import type { AgentTurn, Begun } from '../begin-conversation.ts'
import { costOfChildren } from '../child-runs.ts'
import { createLoopJournal } from '../loop-journal.ts'
import { closeOpenCalls, readJournal } from '../recovered-conversation.ts'
import { type TurnMeter, watchLimits } from '../turn-limits.ts'
import { createGatewayMeter, createSizeEstimate, type SizeEstimate, type Spending } from './gateway-meter.ts'
import { firstPrompt, nextPrompt, waitingMessages } from './prompt-parts.ts'
import { UpdateRecorder } from './record-updates.ts'

/** How long an agent may take to end a prompt that was cancelled. */
const CANCEL_TIMEOUT_MS = 10_000
const NO_LAST_MESSAGE = 'The agent ended its turn without a last message.'

/** A turn whose agent is a program in the sandbox. */
export type ProgramTurn = AgentTurn & { program: AgentProgram; model: Model & { endpoint: ModelEndpoint } }

type State = {
  turn: ProgramTurn
  instructions: string
  meter: TurnMeter
  estimate: SizeEstimate
  journal: LoopJournal
  spending: Spending
  recorder: UpdateRecorder
  session: AgentSession | null
  /** Why the current prompt must end, apart from the end of the run. */
  limit: LimitReached | null
  messages_waiting: boolean
  last_failure: ModelError | null
}

/**
 * Prepares the loop of a turn whose agent is a program of another vendor. It speaks the Agent Client Protocol and calls the model by the gateway;
 * trace, journal, limits and everything after its answer are those of the built-in agent.
 */
export async function createAcpLoop(turn: ProgramTurn, begun: Begun): Promise<AgentLoop> {
  const { writer, live, run, observed, opened, model, secrets, startup } = turn
  const { conversation } = begun
  const instructions = await secrets.redactor.text(await instructionsOf(turn, begun))
  const estimate = createSizeEstimate()
  const meter = watchLimits(turn, { model, estimate, noticed: conversation.noticed })
  meter.childrenCost(await costOfChildren(writer))
  const { open_reservation } = conversation
  if (open_reservation !== null) {
    meter.charged(open_reservation)
    conversation.turn_tokens += open_reservation.input_tokens + open_reservation.output_tokens
  }
  const onToolEnd = () => opened.current?.checkpoints.toolEnded()
  const journal = observed.journal(createLoopJournal({ writer, live, model: run.model, onToolEnd }))
  const recorder = new UpdateRecorder({
    ...{ writer, live, journal, redactor: secrets.redactor },
    onTool: () => startup.reached('first_action_ms'),
    onSignals: ({ messages_waiting }) => {
      if (messages_waiting) interrupt(state, () => (state.messages_waiting = true))
      // A run that is handed over ends its prompt at a step, as the built-in agent does.
      else if (turn.control.leaving) state.session?.cancel()
    },
  })
  const state: State = {
    ...{ turn, instructions, meter, estimate, journal, recorder, session: null, limit: null, messages_waiting: false, last_failure: null },
    spending: { steps: conversation.turn_steps, tokens: conversation.turn_tokens },
  }
  connectGateway(state)
  conversation.messages.push(...(await closeOpenCalls(writer, await callsOfLostProcess(turn))))
  return { meter, run: current => runTurn(state, current) }
}

/** The calls that a process reported as running when it was lost. */
async function callsOfLostProcess({ writer, run }: ProgramTurn): Promise<OpenCall[]> {
  if (run.recovering_since === null) return []
  const records = await readJournal(writer)
  const finished = new Set(records.map(record => (record.kind === 'tool_finished' ? record.call_id : null)))
  return records.flatMap(record =>
    record.kind === 'tool_started' && !finished.has(record.call.id)
      ? [{ ...record.call, started: true, inherited: record.turn === 0 }]
      : [],
  )
}

const mustStop = ({ control }: ProgramTurn): boolean => control.signal.aborted || control.leaving

function connectGateway(state: State): void {
  const { turn, meter, journal, estimate, spending } = state
  const onLimit = (limit: LimitReached) => interrupt(state, () => (state.limit ??= limit))
  const onCall = (failure: ModelError | null) => {
    state.last_failure = failure
  }
  turn.program.connect(
    createGatewayMeter({
      ...{ model: turn.model, meter, journal, estimate, spending, onLimit, onCall },
      mustStop() {
        if (mustStop(turn)) state.session?.cancel()
        return mustStop(turn)
      },
      onProgress: () => turn.live.progressed(),
    }),
  )
}

function interrupt(state: State, reason: () => void): void {
  reason()
  state.session?.cancel()
}

/** Sends prompts until the agent has answered every message, or must stop. */
async function runTurn(state: State, conversation: Conversation): Promise<LoopOutcome> {
  const { turn, journal, meter } = state
  const delivered = await journal.deliver()
  if (conversation.ending !== null && delivered.length === 0) return conversation.ending
  const messages = [...conversation.messages, ...delivered]
  const stop = meter.watch()
  try {
    let parts = await partsFor(state, messages)
    for (;;) {
      if (mustStop(turn)) return { kind: 'stopped' }
      const outcome = await promptOnce(state, parts)
      if (outcome.kind !== 'answer' && outcome.kind !== 'continue') return outcome
      const waiting = await journal.deliver()
      if (waiting.length === 0 && outcome.kind === 'answer') return await recordEnding(state, outcome)
      parts = nextPrompt(waiting, state.session?.images ?? false)
    }
  } catch (error) {
    if (turn.control.signal.aborted) return { kind: 'stopped' }
    if (!(error instanceof AgentError)) throw error
    await closeSession(state)
    return state.limit === null ? failedBy(state, error) : { kind: 'limit', limit: state.limit }
  } finally {
    stop()
  }
}

/** Opens a session if there is none, and returns the prompt for the messages that wait. */
async function partsFor(state: State, messages: ModelMessage[]): Promise<PromptPart[]> {
  const { turn, recorder, instructions } = state
  if (state.session !== null) return nextPrompt(waitingMessages(messages), state.session.images)
  const { sandbox } = await turn.openFiles()
  const { command } = turn.program
  state.session = await openAgentSession({ sandbox, command, on_update: update => recorder.add(update) })
  return firstPrompt(instructions, messages, state.session.images)
}

type PromptOutcome = LoopOutcome | { kind: 'continue' }

/** Sends one prompt and waits for its end. */
async function promptOnce(state: State, parts: PromptPart[]): Promise<PromptOutcome> {
  const { turn, recorder, session } = state
  if (session === null) return { kind: 'stopped' }
  state.messages_waiting = false
  const signal = turn.control.stepSignal()
  const cancelled = Promise.withResolvers<null>()
  using _ = onAbort(signal, () => {
    session.cancel()
    cancelled.resolve(null)
  })
  const prompting = session.prompt(parts)
  prompting.catch(() => {})
  // A run that stops does not wait for its agent; an interrupted one waits a little.
  const late = cancelled.promise.then(() => (turn.control.signal.aborted ? null : withTimeout(prompting, CANCEL_TIMEOUT_MS, () => null)))
  const reason = await Promise.race([prompting, late])
  if (turn.control.signal.aborted) return { kind: 'stopped' }
  if (reason === null) await closeSession(state)
  await recorder.closeOpen()
  return outcomeOf(state, reason ?? 'cancelled', signal)
}

function outcomeOf(state: State, reason: string, signal: AbortSignal): PromptOutcome {
  const { turn, limit, messages_waiting, recorder } = state
  if (limit !== null) return { kind: 'limit', limit }
  // A limit of time interrupts the step, and is then the reason why no other call is planned.
  const planned = signal.aborted ? state.meter.planAside([], state.spending, 1) : null
  if (planned?.kind === 'limit') return planned
  if (turn.control.leaving) return { kind: 'stopped' }
  if (messages_waiting || signal.aborted) return { kind: 'continue' }
  const answer = recorder.takeLastMessage()
  if (reason === 'end_turn') return { kind: 'answer', text: answer.text || NO_LAST_MESSAGE, thought: answer.thought }
  const message = `The agent stopped its turn: ${reason.slice(0, 100)}.${answer.text === '' ? '' : ` Its last message: ${answer.text.slice(0, 1_000)}`}`
  return { kind: 'failed', reason: 'agent_error', code: 'agent_stopped', message, phase: 'agent' }
}

/** The answer is durable before anything is published. */
async function recordEnding({ journal, turn, spending }: State, answer: Extract<LoopOutcome, { kind: 'answer' }>): Promise<LoopOutcome> {
  const { redactor } = turn.secrets
  const text = await redactor.text(answer.text)
  const thought = answer.thought === null ? null : await redactor.text(answer.thought)
  const ends_turn = { kind: 'answer' as const, text, thought }
  const call = { id: `answer-${turn.run.turn}-${spending.steps}`, name: actionTool.finish, input: {} }
  const message: ModelMessage = { role: 'assistant', content: text }
  const result = { status: 'ok' as const, output: {}, duration_ms: 0, truncated: false, whole: null }
  await journal.toolFinished(composed({ call, result, message, response: null, ends_turn, next: null }))
  return ends_turn
}

async function closeSession(state: State): Promise<void> {
  const { session } = state
  state.session = null
  await session?.[Symbol.asyncDispose]()
}

function failedBy({ turn, last_failure }: State, error: AgentError): LoopOutcome {
  const text = `${turn.run.agent_type}: ${error.message}`
  if (last_failure?.code === 'auth')
    return { kind: 'failed', reason: 'model_auth', code: 'auth', message: last_failure.message, phase: 'model' }
  return { kind: 'failed', reason: 'agent_error', code: 'agent_failed', message: text, phase: 'agent' }
}
