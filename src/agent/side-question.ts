import type { AnswerSchema } from '../contract/pull-requests/reviews.ts'
import type { ReasoningEffort } from '../contract/reasoning-efforts.ts'
import { chargeOfBroken, type Reservation, reserve } from '../core/runs/budget/pot.ts'
import {
  isPrompt,
  type Model,
  ModelError,
  type ModelMessage,
  type ModelRequest,
  type ModelResponse,
  type ToolSpec,
} from '../model/port.ts'
import type { BackgroundRedactor } from '../redaction/port.ts'
import { createTokenEstimate, isEstimated } from './token-estimate.ts'

/** A question to a model outside the conversation of a run, answered by one call of one tool. */
export type Question = {
  /** Identifies the question in the run: each is sent once, by any worker. */
  key: string
  instructions: string
  text: string
  tool: ToolSpec
  /** The schema of the input of the tool, which is the answer. */
  answer: AnswerSchema
}

/**
 * `unusable`: the answer has no usable content, or the model could not be reached; `not_asked`: model reviews
 * are off, or a budget forbids it.
 */
export type SideAnswer =
  | { kind: 'answered'; input: Record<string, unknown>; model: string }
  | { kind: 'unusable' | 'not_asked' }
export type SendQuestion = (question: Question) => Promise<SideAnswer>

/** An answer does not fit the schema: the next attempt explains it to the model. */
type Correction = { correction: string }
/**
 * The outcome of one attempt. Empty: the answer was lost with its worker, and its estimated cost was charged.
 */
export type EndedAttempt = { asked?: SideAnswer } & Partial<Correction>
/** `started`: what each attempt is charged if it is lost. */
export type SideQuestionSteps = { started: Reservation[]; ended: EndedAttempt[] }
/** `estimated`: whether at least one count is; absent: all are. */
type Charge = Reservation & { cached_tokens?: number; estimated?: boolean }

/** Records questions: the intent before, the outcome after. */
export type SideQuestionJournal = {
  steps(key: string): Promise<SideQuestionSteps>
  /** The messages that people sent to the run, the oldest first. */
  messages(): Promise<ModelMessage[]>
  started(key: string, reservation: Reservation): Promise<void>
  ended(key: string, ended: EndedAttempt, charge: Charge | null): Promise<void>
}

type SideQuestionInput = {
  model: Model
  reasoning_effort: ReasoningEffort
  journal: SideQuestionJournal
  redactor: BackgroundRedactor
  timeouts: ModelRequest['timeouts']
  /** US dollars that the run may still spend; null: unlimited. */
  left_usd(): number | null
  /** Whether the organization may spend the reservation; null: it may. */
  afford(reservation: Reservation): Promise<unknown>
  /** Called with what was spent. */
  spent(charge: Pick<Reservation, 'cost_usd'>): void
  /** Called with the failure of a call. */
  failed(error: ModelError): void
  signal: AbortSignal
}

/** Thinking included. */
const MAX_OUTPUT_TOKENS = 16_000
/** A window that leaves less is not worth the question. */
const MIN_OUTPUT_TOKENS = 1_000
/** How often a question is sent whose answers were lost with their workers. */
const MAX_LOST = 2
const PROMPTS = { max: 5, chars: 20_000 }
const CORRECTION = { answer: 8_000, mistakes: 20 }

export const sendNoQuestion: SendQuestion = async () => ({ kind: 'not_asked' })

/**
 * Returns a function that sends questions to a model beside the conversation of a run, within the run's
 * budgets. An answer that does not fit the schema is corrected once; a call that fails is not repeated,
 * because the run can continue without the answer. Rejects only with errors that end the run anyway.
 */
export function createQuestionSender(input: SideQuestionInput): SendQuestion {
  return async question => {
    const { started, ended } = await input.journal.steps(question.key)
    const known = ended.find(({ asked }) => asked !== undefined)?.asked
    if (known) return known
    const correction = ended.find(attempt => attempt.correction !== undefined)?.correction ?? null
    let lost = ended.filter(attempt => attempt.correction === undefined).length
    const open = started.at(ended.length)
    if (open) {
      input.spent(open)
      await input.journal.ended(question.key, {}, open)
      lost++
    }
    if (lost >= MAX_LOST) return { kind: 'unusable' }
    const first = await attempt(input, question, correction)
    if ('kind' in first) return first
    const second = await attempt(input, question, first.correction)
    return 'kind' in second ? second : { kind: 'unusable' }
  }
}

/**
 * `correction`: what was wrong with an earlier answer; null: this is the first one. Returns a correction only
 * for the first one.
 */
async function attempt(
  input: SideQuestionInput,
  question: Question,
  correction: string | null,
): Promise<SideAnswer | Correction> {
  const { model, journal, redactor, signal } = input
  const instructions = await redactor.text(question.instructions)
  const messages = await redactor.value(messagesOf(await journal.messages(), question, correction))
  const reservation = reservationOf(input, createTokenEstimate(instructions, [question.tool]).of(messages))
  if (reservation === null) return { kind: correction === null ? 'not_asked' : 'unusable' }
  const end = async (asked: SideAnswer | Correction, charge: Charge | null) => {
    if (charge) input.spent(charge)
    await journal.ended(question.key, 'kind' in asked ? { asked } : asked, charge)
    return asked
  }
  await journal.started(question.key, reservation)
  if ((await input.afford(reservation)) !== null) return end({ kind: 'not_asked' }, null)
  try {
    const response = await model.call({
      instructions,
      messages,
      tools: [question.tool],
      signal,
      timeouts: input.timeouts,
      max_output_tokens: reservation.output_tokens,
      reasoning_effort: input.reasoning_effort,
    })
    const read = await answerIn(input, question, response)
    const is_last = correction !== null
    const estimated = isEstimated(response.usage)
    return await end(is_last && !('kind' in read) ? { kind: 'unusable' } : read, {
      model: model.id,
      ...response.usage,
      estimated,
    })
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    input.failed(error)
    // A provider that refused or was not reached charges nothing.
    const may_cost = ['timeout', 'malformed', 'aborted'].includes(error.code)
    const asked = await end(
      { kind: 'unusable' },
      may_cost ? chargeOfBroken(reservation, model.price, 0) : null,
    )
    signal.throwIfAborted()
    return asked
  }
}

/** Null: neither the model's window nor the budget leaves enough for an answer. */
function reservationOf({ model, left_usd }: SideQuestionInput, estimated_tokens: number): Reservation | null {
  const input_tokens = model.scripted ? 0 : estimated_tokens
  const left = model.context_tokens === null ? MAX_OUTPUT_TOKENS : model.context_tokens - input_tokens
  if (left < MIN_OUTPUT_TOKENS) return null
  const max_output_tokens = Math.min(MAX_OUTPUT_TOKENS, left, model.max_output_tokens ?? MAX_OUTPUT_TOKENS)
  const { fits, reservation } = reserve(
    { model: model.id, input_tokens, max_output_tokens },
    model.price,
    left_usd(),
  )
  return fits ? reservation : null
}

/** Returns the answer, or what is wrong with it. */
async function answerIn(
  { model, redactor }: SideQuestionInput,
  { tool, answer }: Question,
  { tool_calls, text, finish_reason }: ModelResponse,
): Promise<SideAnswer | Correction> {
  const call = tool_calls.find(({ name }) => name === tool.name)
  // A script may contain a part of the answer, or none.
  if (model.scripted)
    return call?.input ? { kind: 'answered', input: call.input, model: model.id } : { kind: 'not_asked' }
  const read = call?.input ? answer.safeParse(call.input) : null
  if (call?.input && read?.success) return { kind: 'answered', input: call.input, model: model.id }
  const issues = read?.error?.issues
    .slice(0, CORRECTION.mistakes)
    .map(issue => `- ${issue.path.join('.') || 'input'}: ${issue.message}`)
  const mistakes = issues ?? [
    call
      ? `- The arguments are not a JSON object: ${call.invalid ?? 'not an object'}`
      : `- It has no call of the tool.`,
  ]
  if (finish_reason === 'length') mistakes.push('- It was cut off at the output limit. Be briefer.')
  const sent = call?.input ? JSON.stringify(call.input) : text
  return { correction: await redactor.text(correctionText(tool.name, sent, mistakes)) }
}

const correctionText = (tool: string, sent: string, mistakes: readonly string[]) =>
  `Your response cannot be used:\n${mistakes.join('\n')}\n\nThe response was:\n${sent.slice(0, CORRECTION.answer)}\n\nRespond again, with one call of the tool ${tool}.`

/**
 * The messages of people, and the question. The agent's own conversation is not part of it: a reviewer who
 * did the work is biased.
 */
function messagesOf(
  messages: readonly ModelMessage[],
  { text }: Question,
  correction: string | null,
): ModelMessage[] {
  const cut = (message: ModelMessage): ModelMessage =>
    typeof message.content === 'string'
      ? message
      : ({
          ...message,
          content: message.content.flatMap(part =>
            part.type === 'text' ? [{ ...part, text: part.text.slice(0, PROMPTS.chars) }] : [],
          ),
        } as ModelMessage)
  const content = correction === null ? text : `${text}\n\n${correction}`
  return [...messages.filter(isPrompt).slice(-PROMPTS.max).map(cut), { role: 'user', content }]
}
