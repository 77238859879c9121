import type { Conversation } from '../../agent/conversation.ts'
import type { LoopOutcome } from '../../agent/loop-state.ts'
import type { SendQuestion } from '../../agent/side-question.ts'
import { actionTool } from '../../contract/runs/action-tools.ts'
import { approvalOfCall } from '../../core/runs/approved-call.ts'
import type { Completed, End } from '../../core/runs/outcome.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { Base } from '../base/base.ts'
import { type Followed, followUnlessInterrupted } from '../checks/await-checks.ts'
import { publish } from '../publish/publish.ts'
import type { AgentTurn } from './begin-conversation.ts'
import { completedTurn } from './completed-turn.ts'
import { factsOfAgent, factsOfPush } from './outcome-facts.ts'
import { endOfControl } from './outcome-of-error.ts'
import type { TurnMeter } from './turn-limits.ts'

/** One round of a turn: the agent works on the conversation, then its answer is published. `base`: null if nothing is published. */
export type Round = {
  run: RunRow
  base: Base | null
  conversation: Conversation
  late: boolean
  sendQuestion: SendQuestion
  meter: TurnMeter
}

const NO_LAST_MESSAGE = 'The agent ended its turn without a last message.'

type FinalText = Pick<Completed, 'text' | 'thought'>
type RoundEnd = End | 'sent_back' | 'interrupted'

/** Publishes the answer of the loop and follows its checks, or returns the work to the agent. */
export async function endOfLoop(turn: AgentTurn, round: Round, outcome: LoopOutcome): Promise<RoundEnd> {
  if (outcome.kind !== 'answer') return endWithoutAnswer(turn, outcome)
  const { deps, writer, control, openFiles } = turn
  const { sandbox } = await openFiles()
  const { run, base, sendQuestion, conversation } = round
  const text = outcome.text.trim()
  const answer = { text: text === '' ? NO_LAST_MESSAGE : text, thought: outcome.thought }
  const facts = await factsOfAgent(turn, { answered: text !== '' })
  if (base === null) return completedTurn(answer, facts)
  if (!(await writer.change({ from: ['running'], to: 'running', phase: 'push' }))) return endOfControl(control)
  const work = { deps: { ...deps, sendQuestion }, writer, control, run, base, sandbox }
  const published = await publish({ ...work, answer: answer.text, sent_back: conversation.sent_back })
  if (control.signal.aborted) return endOfControl(control)
  if (published.kind === 'sent_back') return 'sent_back'
  if (published.kind === 'approval') return { kind: 'waiting', approval_of: published.head }
  if (published.kind === 'failed')
    return { ...published, phase: 'push', tool_name: published.reason === 'git_unavailable' ? actionTool.git_push : null }
  const of_push = await factsOfPush(writer, facts, published)
  if (published.kind !== 'pushed') return completedTurn(answer, of_push)
  const followed = await follow(turn, round, base, answer.text)
  if (control.signal.aborted || followed.kind === 'left') return endOfControl(control)
  if (followed.kind === 'sent_back' || followed.kind === 'interrupted') return followed.kind
  if (followed.kind === 'waiting') return { kind: 'waiting_for_checks', seconds: followed.seconds }
  if (followed.outcome !== null) return completedTurn(answer, { ...of_push, checks: followed })
  return completedTurn(followed.summary === null ? answer : withNote(answer, followed.summary), of_push)
}

function endWithoutAnswer({ deps, run, control }: AgentTurn, outcome: Exclude<LoopOutcome, { kind: 'answer' }>): End {
  if (outcome.kind === 'stopped') return endOfControl(control)
  if (outcome.kind === 'ask') return { kind: 'waiting', approval_of: null }
  if (outcome.kind === 'approval') return { kind: 'waiting', approval_of: approvalOfCall(outcome.digest) }
  if (outcome.kind === 'limit') {
    const { limit } = outcome
    if (limit.kind === 'budget') return { kind: 'paused', reason: 'budget', message: limit.message }
    return { kind: 'failed', reason: limit.reason, code: limit.reason, message: limit.message, phase: 'agent' }
  }
  if (outcome.reason === 'model_auth')
    deps.log('error', 'a model provider rejects its key: no run of this model works until the key is replaced', { model: run.model })
  return outcome
}

const withNote = (answer: FinalText, note: string): FinalText => ({ ...answer, text: `${answer.text}\n\n${note}` })

/** Checks count for the time limits of the turn, and a message interrupts them. */
async function follow(turn: AgentTurn, { run, conversation, late, meter }: Round, base: Base, answer: string): Promise<Followed> {
  const { deps, writer, live, setup, secrets, control, openFiles } = turn
  const [stop, signal] = [meter.watch(), control.stepSignal()]
  const started = async (identities: readonly (string | null)[]) => (await openFiles()).recordBesides(identities)
  const checking = { deps, writer, live, run, base, setup, secrets, started, signal }
  return followUnlessInterrupted({ ...checking, rounds: conversation.check_rounds, late, answer }).finally(stop)
}
