import type { Failure } from '../core/runs/outcome.ts'
import type { ModelMessage, ModelResponse } from '../model/port.ts'
import type { TurnEnding } from './conversation.ts'
import type { ResponseNotice } from './journal.ts'
import type { LoopInput, LoopState } from './loop-state.ts'

const MAX_EMPTY_RESPONSES = 2

/**
 * What follows from a response without tool calls: it ends the turn, the agent gets a notice and continues,
 * or the run fails.
 */
export type Verdict = { ends_turn: TurnEnding | null; notice: ResponseNotice | null; failure: Failure | null }

/**
 * Judges a response without tool calls. Text ends the turn (specification.md#logs). Before any tool call of
 * the turn, or marked as commentary by its provider, it may only announce work: the agent gets one request to
 * continue or to finish.
 */
export function judgeText({ model }: LoopInput, state: LoopState, response: ModelResponse): Verdict {
  const { text, reasoning, finish_reason } = response
  const none = { ends_turn: null, notice: null, failure: null }
  if (finish_reason === 'refusal')
    return {
      ...none,
      failure: failedAgent('refused', `The model refused: ${text || 'it gave no reason'}`),
    }
  if (finish_reason !== 'length' && finish_reason !== 'other' && text.trim() !== '') {
    const announces = !model.scripted && !state.nudged && (!state.called || response.commentary === true)
    if (announces) return { ...none, notice: { message: CONTINUE, trouble: null, text } }
    return { ...none, ends_turn: { kind: 'answer', text, thought: reasoning } }
  }
  if (state.empty >= MAX_EMPTY_RESPONSES)
    return {
      ...none,
      failure: failedAgent(
        'empty_answer',
        `The model gave ${state.empty + 1} empty or truncated responses in a row.`,
      ),
    }
  return { ...none, notice: incomplete(response) }
}

const CONTINUE: ModelMessage = {
  role: 'user',
  content:
    'Message of the service, not of a person: your response calls no tool. Continue, or call finish: if work is left, continue it now; if none is, call finish with your complete answer.',
}

function incomplete({ finish_reason, provider_reason, text, usage }: ModelResponse): ResponseNotice {
  if (finish_reason === 'length') {
    const cut = `was cut off at ${usage.output_tokens} tokens, the maximum of one response`
    return noticeOf(
      `The response of the model ${cut}.`,
      `Your last response ${cut}. Be shorter; write a large file in parts.`,
    )
  }
  if (text.trim() === '')
    return noticeOf('The response of the model was empty.', 'Your last response was empty.')
  const unknown = `ended for a reason that is not known, ${JSON.stringify(provider_reason ?? '')}, and may be cut off`
  return noticeOf(
    `The response of the model ${unknown}.`,
    `Your last response ${unknown}. If it was complete, call finish with it.`,
  )
}

const noticeOf = (shown: string, message: string): ResponseNotice => ({
  trouble: { code: 'empty_answer', message: shown },
  message: { role: 'user', content: `${message} Continue: call a tool, or give the final answer.` },
  text: null,
})

const failedAgent = (code: string, message: string): Failure => ({
  kind: 'failed',
  reason: 'agent_error',
  code,
  message,
  phase: 'agent',
})
