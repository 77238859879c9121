import type { PromptPart } from '../../../acp/agent-session.ts'
import { markedText } from '../../../core/text/instruction-block.ts'
import type { ModelMessage } from '../../../model/port.ts'

const CONTINUE =
  'Your earlier process ended before the task was done. The files in /workspace are as it left them; what it was doing last may or may not have completed. Continue with the task.'
const APPROVED =
  'A person has approved the last call above, which waited for it. Make exactly the same call again, with the same input, and continue with the task.'
/** After a cancelled prompt without a message. */
const GO_ON = 'Your last step was interrupted. Continue with the task.'
const REPEATED = 'You may have received this already:'
const SESSION_CONTINUES = 'Your session continues in a new process.'
/** Of what the service has recorded since the last prompt of a session that continues. */
const MAX_RECORDED = 8_000
/** Of the conversation that is repeated to a new process: its beginning and end. */
const MAX_HISTORY = 120_000

/** `approved`: the digest of a call that a person has approved. */
type FirstPrompt = { instructions: string; messages: ModelMessage[]; approved: string | null }

/**
 * Returns the first prompt of a new process: the instructions, the conversation so far as text, and the
 * messages that wait for a reply. A process that was lost in the middle of a turn has no such messages.
 */
export function firstPrompt(
  { instructions, messages, approved }: FirstPrompt,
  images: boolean,
): PromptPart[] {
  const waiting = waitingMessages(messages)
  const before = messages.slice(0, messages.length - waiting.length)
  const history =
    before.length === 0
      ? []
      : [`## The conversation so far\n\n${markedText('conversation', historyText(before))}`]
  const task =
    waiting.length === 0
      ? [textPart(endsWithCall(before, approved) ? APPROVED : CONTINUE)]
      : nextPrompt(waiting, images)
  return [textPart([instructions, ...history, '## Task'].join('\n\n')), ...task]
}

/** `instructions`: null: the session has them. `known`: how many of the messages the session contains. */
type ContinuedPrompt = {
  instructions: string | null
  messages: ModelMessage[]
  known: number
  approved: string | null
}

/**
 * Returns the first prompt of a new process that continues a session. A process that was lost may not have
 * stored its last prompt and what it did then, so the prompt repeats the end of what the service has
 * recorded.
 */
export function continuedPrompt(
  { instructions, messages, known, approved }: ContinuedPrompt,
  images: boolean,
): PromptPart[] {
  const since = messages.slice(known)
  const waiting = since.filter(({ role }) => role === 'user')
  const done = since.filter(({ role }) => role !== 'user')
  const is_approved = waiting.length === 0 && endsWithCall(messages, approved)
  const recorded =
    done.length === 0
      ? ''
      : markedText('recorded', historyText(done, is_approved ? MAX_HISTORY : MAX_RECORDED))
  const recorded_part =
    recorded === '' ? [] : [`The service has recorded this since your last prompt:\n\n${recorded}`]
  const intro = [
    ...(instructions === null ? [] : [instructions]),
    SESSION_CONTINUES,
    ...recorded_part,
    '## Task',
  ]
  const unanswered = done.length === 0 ? waitingMessages(messages.slice(0, known)) : []
  const repeated = unanswered.length === 0 ? [] : [textPart(REPEATED), ...nextPrompt(unanswered, images)]
  const task =
    waiting.length > 0 ? nextPrompt(waiting, images) : [textPart(is_approved ? APPROVED : CONTINUE)]
  return [textPart(intro.join('\n\n')), ...repeated, ...task]
}

/** Returns the prompt for messages that arrived since the last one. */
export function nextPrompt(messages: ModelMessage[], images: boolean): PromptPart[] {
  const parts = messages.flatMap(message => partsOf(message).filter(part => images || part.type === 'text'))
  return parts.length === 0 ? [textPart(GO_ON)] : parts
}

/** Returns the messages of people and of the service after the last one of the agent. */
export function waitingMessages(messages: ModelMessage[]): ModelMessage[] {
  return messages.slice(messages.findLastIndex(({ role }) => role !== 'user') + 1)
}

const endsWithCall = (messages: ModelMessage[], digest: string | null): boolean => {
  const last = messages.at(-1)
  return digest !== null && last !== undefined && textOf(last).includes(digest)
}

function historyText(messages: ModelMessage[], max = MAX_HISTORY): string {
  const lines = messages
    .map(message => `${message.role === 'user' ? 'Person' : 'You'}: ${textOf(message)}`)
    .join('\n\n')
  if (lines.length <= max) return lines
  const half = max / 2
  return `${lines.slice(0, half)}\n\n… left out …\n\n${lines.slice(-half)}`.toWellFormed()
}

const textOf = (message: ModelMessage): string =>
  partsOf(message)
    .map(part => (part.type === 'text' ? part.text : '[image]'))
    .join('\n')

function partsOf({ content }: ModelMessage): PromptPart[] {
  if (typeof content === 'string') return [textPart(content)]
  return content.flatMap(part => {
    if (part.type === 'text') return [textPart(part.text)]
    if (part.type !== 'file' || typeof part.data !== 'string') return []
    const [, mimeType = part.mediaType, data = ''] = /^data:([^;,]+);base64,(.*)$/s.exec(part.data) ?? []
    return data === '' ? [] : [{ type: 'image' as const, data, mimeType }]
  })
}

const textPart = (text: string): PromptPart => ({ type: 'text', text })
