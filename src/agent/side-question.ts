import type { BackgroundRedactor } from '../core/redaction/background-redactor.ts'
import { chargeOfBroken, type Reservation, reserve } from '../core/runs/budget/budget-check.ts'
import { isPrompt, type Model, type ModelAnswer, ModelError, type ModelMessage, type ModelRequest, type ToolSpec } from '../model/port.ts'
import { createTokenEstimate } from './token-estimate.ts'

/** A question to the model of a run besides its conversation, answered by one call of one tool. */
export type Question = {
  /** Identifies the question in the run: each is sent once, by any worker. */
  key: string
  instructions: string
  text: string
  /** The answer as its input. */
  tool: ToolSpec
}

/** `unusable`: the answer has no usable content, or the model could not be reached; `not_asked`: model evaluations are off, or a budget forbids it. */
export type SideAnswer = { kind: 'answered'; input: Record<string, unknown>; model: string } | { kind: 'unusable' | 'not_asked' }
export type Ask = (question: Question) => Promise<SideAnswer>

/** The journal of a question. `asked` absent: the answer was lost with its worker, and the reservation was charged. */
export type SideQuestionSteps = { started: Reservation[]; ended: { asked?: SideAnswer }[] }
export type Charge = Omit<Reservation, 'cost_usd'> & { cost_usd: string | null; cached_tokens?: number }

/** Records questions: the intent before, the outcome after. */
export type SideQuestionJournal = {
  steps(key: string): Promise<SideQuestionSteps>
  /** The messages that people sent to the run, the oldest first. */
  messages(): Promise<ModelMessage[]>
  started(key: string, reservation: Reservation): Promise<void>
  ended(key: string, ended: { asked?: SideAnswer }, charge: Charge | null): Promise<void>
}

export type SideQuestionInput = {
  model: Model
  journal: SideQuestionJournal
  redactor: BackgroundRedactor
  timeouts: ModelRequest['timeouts']
  /** US dollars that the run may still spend; null: unlimited. */
  left_usd(): number | null
  /** Whether the organization may spend the reservation; null: it may. */
  afford(reservation: Reservation): Promise<unknown>
  /** Called with what was spent. */
  spent(charge: Pick<Reservation, 'cost_usd'>): void
  signal: AbortSignal
}

const MAX_OUTPUT_TOKENS = 4_000
/** How often a question is sent whose answers were lost with their workers. */
const MAX_TRIES = 2
const PROMPTS = { max: 5, chars: 20_000 }

export const neverAsk: Ask = async () => ({ kind: 'not_asked' })

/**
 * Asks the model of a run beside its conversation, within the same budgets. One attempt, because the run can continue without the answer. Rejects
 * only with errors that end the run anyway.
 */
export function createAsk(input: SideQuestionInput): Ask {
  return async question => {
    const { started, ended } = await input.journal.steps(question.key)
    const known = ended.find(({ asked }) => asked !== undefined)?.asked
    if (known) return known
    const lost = started.at(ended.length)
    if (lost) {
      input.spent(lost)
      await input.journal.ended(question.key, {}, lost)
    }
    return started.length < MAX_TRIES ? askOnce(input, question) : { kind: 'unusable' }
  }
}

async function askOnce(input: SideQuestionInput, question: Question): Promise<SideAnswer> {
  const { model, journal, redactor, signal } = input
  const instructions = await redactor.text(question.instructions)
  const messages = await redactor.value(asideMessages(await journal.messages(), question))
  const input_tokens = model.scripted ? 0 : createTokenEstimate(instructions, [question.tool]).of(messages)
  const call = { model: model.id, input_tokens, max_output_tokens: MAX_OUTPUT_TOKENS }
  const { fits, reservation } = reserve(call, model.price, input.left_usd())
  if (!fits || (model.context_tokens !== null && input_tokens + MAX_OUTPUT_TOKENS > model.context_tokens)) return { kind: 'not_asked' }
  const end = async (asked: SideAnswer, charge: Charge | null) => {
    if (charge) input.spent(charge)
    await journal.ended(question.key, { asked }, charge)
    return asked
  }
  await journal.started(question.key, reservation)
  if ((await input.afford(reservation)) !== null) return end({ kind: 'not_asked' }, null)
  try {
    const answer = await model.call({
      ...{ instructions, messages, tools: [question.tool], signal, timeouts: input.timeouts },
      max_output_tokens: reservation.output_tokens,
      reasoning_effort: 'low',
    })
    return await end(answerTo(question, answer, model), { model: model.id, ...answer.usage })
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    // A provider that refused or was not reached charges nothing.
    const may_cost = ['timeout', 'malformed', 'aborted'].includes(error.code)
    const asked = await end({ kind: 'unusable' }, may_cost ? chargeOfBroken(reservation, model.price, 0) : null)
    signal.throwIfAborted()
    return asked
  }
}

function answerTo(question: Question, { tool_calls }: ModelAnswer, model: Model): SideAnswer {
  const found = tool_calls.find(({ name }) => name === question.tool.name)?.input
  if (found) return { kind: 'answered', input: found, model: model.id }
  // A script without a verdict for this question gives no answer.
  return { kind: model.scripted ? 'not_asked' : 'unusable' }
}

/** The messages of people, and the question. The agent's own conversation is not part of it: a reviewer who did the work is biased. */
function asideMessages(messages: readonly ModelMessage[], { text }: Question): ModelMessage[] {
  const cut = (message: ModelMessage): ModelMessage =>
    typeof message.content === 'string'
      ? message
      : ({
          ...message,
          content: message.content.flatMap(part => (part.type === 'text' ? [{ ...part, text: part.text.slice(0, PROMPTS.chars) }] : [])),
        } as ModelMessage)
  return [...messages.filter(isPrompt).slice(-PROMPTS.max).map(cut), { role: 'user', content: text }]
}
