import type { Reservation } from '../core/runs/budget/pot.ts'
import type { ModelMessage, ModelResponse, ModelUsage, ToolCall } from '../model/port.ts'
import type { Redacted } from '../redaction/port.ts'
import type { FailedAttempt } from './call-with-retries.ts'
import type { Compaction } from './compaction/compaction.ts'
import type { TurnEnding } from './conversation.ts'
import type { PlannedCall } from './meter.ts'
import type { ToolResult } from './tool.ts'

/** What every write reports back to the loop. */
export type Signals = { messages_waiting: boolean; interrupted: boolean }

/**
 * A message of the service after a response without tool calls. `trouble`: what was wrong with it, an ERROR
 * entry that does not end the run; null: the response may only announce work, and `text` is its text.
 */
export type ResponseNotice = { message: ModelMessage } & (
  | { trouble: { code: string; message: string }; text: null }
  | { trouble: null; text: string }
)

/**
 * Whether a response ends the turn, the notice after it, and the intent to run `next` if it calls a tool that
 * can start now.
 */
export type FollowsResponse = {
  ends_turn: TurnEnding | null
  notice: ResponseNotice | null
  next: ToolCall | null
}

/** A tool call with its result. */
export type FinishedCall = {
  call: ToolCall
  result: ToolResult
  /** The result as the model receives it. */
  message: ModelMessage
  /** The model's response, with its first call only: its reasoning belongs to that entry. */
  response: ModelResponse | null
  ends_turn: TurnEnding | null
  /** The intent that is written with the outcome: the next tool call or model call. */
  next: ToolCall | PlannedCall | null
}

/**
 * A compaction of the conversation. `usage`: of the call that wrote the summary; null without one.
 * `replaced`: the first and the last call whose content was removed, and how many results were; null: no call
 * was.
 */
export type CompactionRecord = {
  compaction: Compaction
  usage: ModelUsage | null
  replaced: { first: string; last: string; results: number } | null
  duration_ms: number
}

/**
 * Where the loop records intents before and outcomes after it acts. Every method resolves when the write is
 * durable. A rejection (the run belongs to another worker) ends the loop.
 */
export type LoopJournal = {
  /** Takes the messages that people sent; from then on they are part of the conversation. */
  deliver(): Promise<ModelMessage[]>
  /**
   * Before each attempt of a model call: its reservation, and the notice that becomes part of the
   * conversation.
   */
  modelStarted(call: PlannedCall): Promise<Signals>
  /** The attempt failed. `charge`: its cost; null when it cost nothing. */
  modelFailed(failed: FailedAttempt, charge: Reservation | null): Promise<void>
  /** The recorded call is cancelled. */
  modelNotCalled(): Promise<void>
  /** The response and what follows from it. Its record is stored with the kind `model_answered`. */
  modelResponded(response: Redacted<ModelResponse>, follows: Redacted<FollowsResponse>): Promise<Signals>
  /**
   * The intent of the first call of a response, where `modelResponded` could not record it, because the
   * workspace was not ready; or of a call that a program reports. Intents of further calls are recorded with
   * the outcome of the call before (`toolFinished`). `call_kind`: what a program states about its call.
   */
  toolStarted(call: ToolCall, call_kind?: string): Promise<void>
  toolFinished(finished: Redacted<FinishedCall>): Promise<Signals>
  /** Records a compaction, from which the conversation is rebuilt, and shows it in the trace. */
  compacted(compacted: CompactionRecord): Promise<void>
}
