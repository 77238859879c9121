import type { BackgroundRedactor } from '../core/redaction/background-redactor.ts'
import { chargeOfBroken, type Reservation, reserve } from '../core/runs/budget-check.ts'
import { isPrompt, type Model, type ModelAnswer, ModelError, type ModelMessage, type ModelRequest, type ToolSpec } from '../model/port.ts'
import { createTokenEstimate } from './token-estimate.ts'

/** A question to the model of a run besides its conversation, answered by one call of one tool. */
export type Question = {
  /** Names it in the run: the same question is asked once, whichever owner of the run asks. */
  key: string
  instructions: string
  text: string
  /** The answer as its input. */
  tool: ToolSpec
}

/** `unusable`: there is an answer, and it is none, or the model could not be reached; `not_asked`: nobody wants it, or nobody may pay for it. */
export type Asked = { kind: 'answered'; input: Record<string, unknown>; model: string } | { kind: 'unusable' | 'not_asked' }
export type Ask = (question: Question) => Promise<Asked>

/** What was written down of a question before. `asked` absent: its answer was lost with who asked, and is counted as this. */
export type SideQuestionSteps = { started: Reservation[]; ended: { asked?: Asked }[] }
export type Charge = Omit<Reservation, 'cost_usd'> & { cost_usd: string | null; cached_tokens?: number }

/** Where questions are written down: the intent before, the outcome after. */
export type SideQuestionJournal = {
  steps(key: string): Promise<SideQuestionSteps>
  /** What the run was told, the oldest first. */
  messages(): Promise<ModelMessage[]>
  started(key: string, reservation: Reservation): Promise<void>
  ended(key: string, ended: { asked?: Asked }, charge: Charge | null): Promise<void>
}

export type Asking = {
  model: Model
  journal: SideQuestionJournal
  redactor: BackgroundRedactor
  timeouts: ModelRequest['timeouts']
  /** US dollars that the run may still spend; null: as much as it likes. */
  left_usd(): number | null
  /** Whether the organization may spend what is set aside; null: it may. */
  afford(reservation: Reservation): Promise<unknown>
  /** Told of what was spent. */
  spent(charge: Pick<Reservation, 'cost_usd'>): void
  signal: AbortSignal
}

const MAX_OUTPUT_TOKENS = 4_000
/** So often a question is asked whose answers were lost with who asked. */
const MOST_TRIES = 2
const PROMPTS = { most: 5, chars: 20_000 }

export const askNobody: Ask = async () => ({ kind: 'not_asked' })

/**
 * Asks the model of a run besides its conversation, within the same budgets. One try, because nothing waits for the answer that could not go
 * on without it. Rejects only with what ends the run anyway.
 */
export function createAsk(asking: Asking): Ask {
  return async question => {
    const { started, ended } = await asking.journal.steps(question.key)
    const known = ended.find(({ asked }) => asked !== undefined)?.asked
    if (known) return known
    const lost = started.at(ended.length)
    if (lost) {
      asking.spent(lost)
      await asking.journal.ended(question.key, {}, lost)
    }
    return started.length < MOST_TRIES ? askOnce(asking, question) : { kind: 'unusable' }
  }
}

async function askOnce(asking: Asking, question: Question): Promise<Asked> {
  const { model, journal, redactor, signal } = asking
  const instructions = await redactor.text(question.instructions)
  const messages = await redactor.value(asideMessages(await journal.messages(), question))
  const input_tokens = model.scripted ? 0 : createTokenEstimate(instructions, [question.tool]).of(messages)
  const call = { model: model.id, input_tokens, max_output_tokens: MAX_OUTPUT_TOKENS }
  const { fits, reservation } = reserve(call, model.price, asking.left_usd())
  if (!fits || (model.context_tokens !== null && input_tokens + MAX_OUTPUT_TOKENS > model.context_tokens)) return { kind: 'not_asked' }
  const end = async (asked: Asked, charge: Charge | null) => {
    if (charge) asking.spent(charge)
    await journal.ended(question.key, { asked }, charge)
    return asked
  }
  await journal.started(question.key, reservation)
  if ((await asking.afford(reservation)) !== null) return end({ kind: 'not_asked' }, null)
  try {
    const answer = await model.call({
      ...{ instructions, messages, tools: [question.tool], signal, timeouts: asking.timeouts },
      max_output_tokens: reservation.output_tokens,
    })
    return await end(answerTo(question, answer, model), { model: model.id, ...answer.usage })
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    // One that refused, or was never reached, asks no money.
    const may_cost = ['timeout', 'malformed', 'aborted'].includes(error.code)
    const asked = await end({ kind: 'unusable' }, may_cost ? chargeOfBroken(reservation, model.price, 0) : null)
    signal.throwIfAborted()
    return asked
  }
}

function answerTo(question: Question, { tool_calls }: ModelAnswer, model: Model): Asked {
  const input = tool_calls.find(({ name }) => name === question.tool.name)?.input
  if (input) return { kind: 'answered', input, model: model.id }
  // A script that has nothing for it was not written to be asked.
  return { kind: model.scripted ? 'not_asked' : 'unusable' }
}

/** What people have asked of the agent, and the question. Its own conversation is not part of it: who has done the work judges it kindly. */
function asideMessages(messages: readonly ModelMessage[], { text }: Question): ModelMessage[] {
  const cut = (message: ModelMessage): ModelMessage =>
    typeof message.content === 'string'
      ? message
      : ({
          ...message,
          content: message.content.flatMap(part => (part.type === 'text' ? [{ ...part, text: part.text.slice(0, PROMPTS.chars) }] : [])),
        } as ModelMessage)
  return [...messages.filter(isPrompt).slice(-PROMPTS.most).map(cut), { role: 'user', content: text }]
}
