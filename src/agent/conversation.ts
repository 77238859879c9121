import type { CheckRound } from '../core/pull-requests/check-rounds.ts'
import { type NearLimit, noticeKey } from '../core/runs/budget/near-limits.ts'
import type { Reservation } from '../core/runs/budget/pot.ts'
import { imagePart, type ModelMessage, type ModelUsage, type ToolCall } from '../model/port.ts'
import { applyCompaction, type Compaction } from './compaction/compaction.ts'
import { type CountedPrefix, countedTokensOf } from './token-estimate.ts'

/** The journal as the loop reads it: what happened, in order. */
export type JournalRecord =
  /**
   * `limits`: a notice of the service that these are near. `sent_back`: the work was not pushed, and the
   * agent must fix it. `checks_failed`: it was pushed, and its checks failed.
   */
  | {
      /** `nudge`: asks the agent to continue or to finish. */
      kind: 'message'
      turn: number
      messages: ModelMessage[]
      limits?: NearLimit[]
      sent_back?: { reset_to: string | null }
      checks_failed?: CheckRound
      nudge?: boolean
      /** The entries of actions whose changes the restored workspace lacks. */
      lost_actions?: number[]
    }
  /**
   * `key`: identifies a call of a program, which may be one of several in flight; calls of the built-in agent
   * have none.
   */
  | {
      kind: 'model_started'
      turn: number
      key?: string | null
      reservation?: Reservation
      /** Of a program: the call offers tools to the model. */
      has_tools?: boolean
      created_at?: Date
    }
  /** `left`: the program that made the call had ended its turn before. */
  | {
      kind: 'model_failed'
      turn: number
      key?: string | null
      code: string
      charge: Reservation | null
      left?: boolean
    }
  | {
      kind: 'model_answered'
      turn: number
      key?: string | null
      messages: ModelMessage[]
      tool_calls: ToolCall[]
      tokens: number
      usage?: ModelUsage
      ends_turn?: TurnEnding
    }
  /** `call_kind`: what a program states about a call of its own, in the words of its protocol. */
  | { kind: 'tool_started'; turn: number; call: ToolCall; call_kind?: string }
  | { kind: 'tool_finished'; turn: number; call_id: string; message: ModelMessage; ends_turn?: TurnEnding }
  /** `tokens`: what its summary counts against the ceiling. */
  | { kind: 'compacted'; turn: number; compaction: Compaction; tokens: number }
  /** Another worker continued from here. */
  | { kind: 'recovered'; turn: number }
  /** The agent has finished, and its work is published. */
  | { kind: 'commit_started'; turn: number }
  | { kind: 'push_started'; turn: number }
  /** The workspace was prepared by the repository's commands. */
  | { kind: 'set_up'; turn: number }
  /** The checks of the pushed commit are final for this turn. */
  | { kind: 'checks_judged'; turn: number }
  /** A prompt is sent to a program, in this session; null: no later process can continue it. */
  | { kind: 'prompt_started'; turn: number; session: ProgramSession | null }

/**
 * A session of a program as it keeps it in its home folder. `instructions`: a digest of those that it has.
 */
export type ProgramSession = { id: string; agent_type: string; model: string; instructions: string }

/** How the agent itself ended its turn. */
export type TurnEnding =
  | { kind: 'answer'; text: string; thought: string | null }
  | { kind: 'ask'; question: string }

/**
 * `started`: an intent was written, so the outcome is unknown. `inherited`: it belongs to the run that this
 * one was forked from.
 */
export type OpenCall = ToolCall & { started: boolean; inherited: boolean }

export type OpenModelCall = { key: string | null; reservation: Reservation | null; started_at?: Date }

export type Conversation = {
  messages: ModelMessage[]
  /** Calls of the last response that have no outcome, in order. */
  open_calls: OpenCall[]
  /** Model calls without a response: at most one of the built-in agent, which is repeated. */
  open_model_calls: OpenModelCall[]
  /** Ids of all calls so far, also of those that a compaction removed. */
  call_ids: Set<string>
  /** The part that a provider has counted. */
  counted: CountedPrefix | null
  /**
   * The limit that followed from the last refusal of a conversation as too long, and the model that refused
   * it.
   */
  refused: { model: string; limit_tokens: number } | null
  /** Of the current turn. */
  turn_steps: number
  turn_tokens: number
  /**
   * Whether the agent has called a tool in this turn, and whether it received a request to continue or to
   * finish since the last call.
   */
  called: boolean
  nudged: boolean
  /** The notices of limits that the agent received in this turn. */
  noticed: Set<string>
  /** The reviews of this turn that returned the work to the agent since the last push. */
  sent_back: { reset_to: string | null }[]
  /** The attempts of this turn to fix failing checks of pushed commits. */
  check_rounds: CheckRound[]
  /**
   * The last session of a program that can be continued; `known`: the number of messages that it has received
   * or written itself.
   */
  session: (ProgramSession & { known: number }) | null
  /** Set when the agent has ended its turn: only publishing and checks are left. */
  ending: TurnEnding | null
}

/** Rebuilds the conversation from the journal alone. */
export function rebuildConversation(records: JournalRecord[], turn: number): Conversation {
  const conversation: Conversation = {
    messages: [],
    open_calls: [],
    call_ids: new Set(),
    counted: null,
    refused: null,
    open_model_calls: [],
    turn_steps: 0,
    turn_tokens: 0,
    called: false,
    nudged: false,
    noticed: new Set(),
    sent_back: [],
    check_rounds: [],
    session: null,
    ending: null,
  }
  for (const record of records) {
    conversation.open_model_calls = openModelCalls(conversation.open_model_calls, record)
    addRecord(conversation, record, record.turn === turn)
  }
  return conversation
}

/**
 * A call with a key ends by its own record; one without a key by whatever follows it, except what happens
 * beside it.
 */
function openModelCalls(open: OpenModelCall[], record: JournalRecord): OpenModelCall[] {
  const { kind } = record
  if (['recovered', 'set_up', 'prompt_started', 'tool_started', 'tool_finished'].includes(kind)) return open
  const key =
    kind === 'model_started' || kind === 'model_answered' || kind === 'model_failed'
      ? (record.key ?? null)
      : null
  const rest = open.filter(call => call.key !== key)
  // What a fork copied was paid for by the other run.
  const starts = kind === 'model_started' && record.turn > 0
  if (!starts) return rest
  const { reservation = null, created_at } = record
  return [...rest, { key, reservation, ...(created_at && { started_at: created_at }) }]
}

function addRecord(conversation: Conversation, record: JournalRecord, is_current: boolean): void {
  if (record.kind === 'message') addMessages(conversation, record, is_current)
  else if (record.kind === 'model_answered') addResponse(conversation, record, is_current)
  else if (record.kind === 'compacted') addCompaction(conversation, record, is_current)
  else if (record.kind === 'model_failed') {
    if (is_current && record.charge !== null)
      conversation.turn_tokens += record.charge.input_tokens + record.charge.output_tokens
  } else if (record.kind === 'tool_started') {
    const { call: started } = record
    conversation.open_calls = conversation.open_calls.map(call =>
      call.id === started.id ? { ...call, started: true } : call,
    )
  } else if (record.kind === 'prompt_started') {
    conversation.session = record.session && { ...record.session, known: conversation.messages.length }
  } else if (record.kind === 'tool_finished') {
    conversation.messages.push(record.message)
    conversation.ending = is_current ? (record.ends_turn ?? conversation.ending) : null
    conversation.open_calls = conversation.open_calls.filter(call => call.id !== record.call_id)
  }
}

type RecordOf<K extends JournalRecord['kind']> = Extract<JournalRecord, { kind: K }>

function addMessages(conversation: Conversation, record: RecordOf<'message'>, is_current: boolean): void {
  conversation.messages.push(...record.messages)
  conversation.ending = null
  if (!is_current) return
  for (const limit of record.limits ?? []) conversation.noticed.add(noticeKey(limit))
  if (record.nudge) conversation.nudged = true
  if (record.sent_back) conversation.sent_back.push(record.sent_back)
  if (record.checks_failed) {
    conversation.check_rounds.push(record.checks_failed)
    // Commits that have been pushed are not reset.
    conversation.sent_back = []
  }
}

function addResponse(
  conversation: Conversation,
  record: RecordOf<'model_answered'>,
  is_current: boolean,
): void {
  const { messages, tool_calls, usage, tokens, ends_turn } = record
  conversation.messages.push(...messages)
  // A call without content, like that of a program for a title, leaves the turn as it is.
  if (messages.length > 0 || tool_calls.length > 0 || ends_turn)
    conversation.ending = is_current ? (ends_turn ?? null) : null
  conversation.open_calls = tool_calls.map(call => ({
    ...call,
    started: false,
    inherited: record.turn === 0,
  }))
  for (const { id } of tool_calls) conversation.call_ids.add(id)
  // A program counts a context of its own.
  const counted = usage === undefined || record.key ? null : countedTokensOf(usage)
  if (counted !== null) conversation.counted = { messages: conversation.messages.length, tokens: counted }
  if (!is_current) return
  if (tool_calls.length > 0) [conversation.called, conversation.nudged] = [true, false]
  conversation.turn_steps++
  conversation.turn_tokens += tokens
}

function addCompaction(
  conversation: Conversation,
  { compaction, tokens }: RecordOf<'compacted'>,
  is_current: boolean,
): void {
  conversation.counted = null
  const { cause, model, limit_tokens } = compaction
  conversation.messages = applyCompaction(conversation.messages, compaction)
  if (cause === 'refused') conversation.refused = { model, limit_tokens }
  if (is_current) conversation.turn_tokens += tokens
}

/**
 * Returns the message with the output of one tool call. The output is copied as JSON, so later changes do not
 * reach the conversation.
 */
export function toolMessage(
  call: { id: string; name: string },
  output: Record<string, unknown>,
): ModelMessage {
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

/**
 * Returns a message that was sent to the run. Only such a one may carry a playbook; text from a forge is
 * quoted in it, so that it cannot.
 */
export function promptMessage({ text, images }: { text: string; images: string[] }): ModelMessage {
  return {
    role: 'user',
    content: [{ type: 'text', text }, ...images.map(imagePart)],
    providerOptions: { agentrun: { prompt: true } },
  }
}
