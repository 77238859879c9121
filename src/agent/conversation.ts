import type { CheckRound } from '../core/pull-requests/check-rounds.ts'
import type { Reservation } from '../core/runs/budget-check.ts'
import { type NearLimit, noticeKey } from '../core/runs/near-limits.ts'
import type { ModelMessage, ToolCall } from '../model/port.ts'

/** The journal as the loop reads it: what happened, in order. */
export type JournalRecord =
  /**
   * `limits`: a notice of the service that these are near. `sent_back`: the work was not pushed, and the agent must fix it. `checks_failed`: it
   * was pushed, and its checks failed.
   */
  | {
      kind: 'message'
      turn: number
      messages: ModelMessage[]
      limits?: NearLimit[]
      sent_back?: { reset_to: string | null }
      checks_failed?: CheckRound
    }
  | { kind: 'model_started'; turn: number; reservation?: Reservation }
  | { kind: 'model_failed'; turn: number; charge: Reservation | null }
  | { kind: 'model_answered'; turn: number; messages: ModelMessage[]; tool_calls: ToolCall[]; tokens: number; ends_turn?: TurnEnding }
  | { kind: 'tool_started'; turn: number; call: ToolCall }
  | { kind: 'tool_finished'; turn: number; call_id: string; message: ModelMessage; ends_turn?: TurnEnding }
  | { kind: 'compacted'; turn: number; keep_last: number }
  /** Another worker continued from here. */
  | { kind: 'recovered'; turn: number }
  /** The agent has finished, and its work is published. */
  | { kind: 'commit_started'; turn: number }
  | { kind: 'push_started'; turn: number }
  /** The workspace was prepared by the repository's commands. */
  | { kind: 'set_up'; turn: number }
  /** The checks of the pushed commit are final for this turn. */
  | { kind: 'checks_judged'; turn: number }

/** How the agent itself ended its turn. */
export type TurnEnding = { kind: 'answer'; text: string; thought: string | null } | { kind: 'ask'; question: string }

/** `started`: an intent was written, so the outcome is unknown. `inherited`: it belongs to the run that this one was forked from. */
export type OpenCall = ToolCall & { started: boolean; inherited: boolean }

export type Conversation = {
  messages: ModelMessage[]
  /** Calls of the last answer that have no outcome, in order. */
  open_calls: OpenCall[]
  /** The last model call has no answer, so it is repeated. */
  model_call_open: boolean
  /** The reservation of that call. */
  open_reservation: Reservation | null
  /** Of the current turn. */
  turn_steps: number
  turn_tokens: number
  /** The notices of limits that the agent received in this turn. */
  noticed: Set<string>
  /** The reviews of this turn that returned the work to the agent since the last push. */
  sent_back: { reset_to: string | null }[]
  /** The attempts of this turn to fix failing checks of pushed commits. */
  check_rounds: CheckRound[]
  /** Set when the agent has ended its turn: only publishing and checks are left. */
  ending: TurnEnding | null
}

/** Rebuilds the conversation from the journal alone. */
export function rebuildConversation(records: JournalRecord[], turn: number): Conversation {
  let messages: ModelMessage[] = []
  let open: OpenCall[] = []
  let turn_steps = 0
  let turn_tokens = 0
  let ending: TurnEnding | null = null
  let model_call_open = false
  let open_reservation: Reservation | null = null
  const noticed = new Set<string>()
  let sent_back: Conversation['sent_back'] = []
  const check_rounds: CheckRound[] = []
  for (const record of records) {
    if (record.kind !== 'recovered' && record.kind !== 'set_up') {
      model_call_open = record.kind === 'model_started'
      open_reservation = (record.kind === 'model_started' && record.reservation) || null
    }
    if (record.kind === 'message') {
      messages.push(...record.messages)
      ending = null
      if (record.turn === turn) for (const limit of record.limits ?? []) noticed.add(noticeKey(limit))
      if (record.turn === turn && record.sent_back) sent_back.push(record.sent_back)
      if (record.turn === turn && record.checks_failed) {
        check_rounds.push(record.checks_failed)
        // Commits that have been pushed are not reset.
        sent_back = []
      }
    } else if (record.kind === 'model_failed') {
      if (record.turn === turn && record.charge !== null) turn_tokens += record.charge.input_tokens + record.charge.output_tokens
    } else if (record.kind === 'model_answered') {
      ending = record.turn === turn ? (record.ends_turn ?? null) : null
      messages.push(...record.messages)
      open = record.tool_calls.map(call => ({ ...call, started: false, inherited: record.turn === 0 }))
      if (record.turn === turn) {
        turn_steps++
        turn_tokens += record.tokens
      }
    } else if (record.kind === 'tool_started') open = open.map(call => (call.id === record.call.id ? { ...call, started: true } : call))
    else if (record.kind === 'tool_finished') {
      messages.push(record.message)
      ending = record.turn === turn ? (record.ends_turn ?? ending) : null
      open = open.filter(call => call.id !== record.call_id)
    } else if (record.kind === 'compacted') messages = compact(messages, record.keep_last)
  }
  return {
    messages,
    open_calls: open,
    model_call_open,
    open_reservation,
    turn_steps,
    turn_tokens,
    noticed,
    sent_back,
    check_rounds,
    ending,
  }
}

export function toolMessage(call: { id: string; name: string }, output: Record<string, unknown>): ModelMessage {
  return {
    role: 'tool',
    content: [
      {
        type: 'tool-result',
        toolCallId: call.id,
        toolName: call.name,
        output: { type: 'json', value: JSON.parse(JSON.stringify(output)) },
      },
    ],
  }
}

export type Prompt = { text: string; images: string[]; from_person: boolean }

/** A message of a person. Only such a one may carry a playbook: text that came by a webhook never has the mark. */
export function promptMessage({ text, images, from_person }: Prompt): ModelMessage {
  return {
    role: 'user',
    content: [
      { type: 'text', text },
      ...images.map(uri => ({ type: 'file' as const, data: uri, mediaType: /^data:([\w/+.-]+)/.exec(uri)?.[1] ?? 'image/png' })),
    ],
    ...(from_person && { providerOptions: { agentrun: { prompt: true } } }),
  }
}

const LEFT_OUT = '[left out to save context]'

/** Drops what tools gave back earlier than the last `keep_last` messages: the calls stay, so the conversation stays valid. */
export function compact(messages: ModelMessage[], keep_last: number): ModelMessage[] {
  const border = messages.length - keep_last
  return messages.map((message, i) => {
    if (i >= border || message.role !== 'tool') return message
    return {
      ...message,
      content: message.content.map(part =>
        part.type === 'tool-result' ? { ...part, output: { type: 'json' as const, value: { status: 'ok', note: LEFT_OUT } } } : part,
      ),
    }
  })
}
