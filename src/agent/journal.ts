import type { Reservation } from '../core/runs/budget-check.ts'
import type { ModelAnswer, ModelMessage, ToolCall } from '../model/port.ts'
import type { FailedAttempt } from './call-with-retries.ts'
import type { TurnEnding } from './conversation.ts'
import type { PlannedCall } from './meter.ts'
import type { ToolResult } from './tool.ts'

/** What every write reports back to the loop. */
export type Signals = { messages_waiting: boolean; interrupted: boolean }

/** A tool call with its result. */
export type FinishedCall = {
  call: ToolCall
  result: ToolResult
  /** The result as the model receives it. */
  message: ModelMessage
  /** The model's answer, with its first call only: its reasoning belongs to that entry. */
  answer: ModelAnswer | null
  ends_turn: TurnEnding | null
  /** The intent that is written with the outcome: the next tool call or model call. */
  next: ToolCall | PlannedCall | null
}

/**
 * Where the loop records intents before and outcomes after it acts. Every method resolves when the write is durable. A rejection (the run
 * belongs to another worker) ends the loop.
 */
export type LoopJournal = {
  /** Takes the messages that people sent; from then on they are part of the conversation. */
  deliver(): Promise<ModelMessage[]>
  /** Before each attempt of a model call: its reservation, and the notice that becomes part of the conversation. */
  modelStarted(call: PlannedCall): Promise<Signals>
  /** The attempt failed. `charge`: its cost; null when it cost nothing. */
  modelFailed(failed: FailedAttempt, charge: Reservation | null): Promise<void>
  /** The recorded call is cancelled. */
  modelNotCalled(): Promise<void>
  /** The answer, whether it ends the turn, and the intent to run `next` if it calls a tool that can start now. */
  modelAnswered(answer: ModelAnswer, ends_turn: TurnEnding | null, next: ToolCall | null): Promise<Signals>
  /** The intent of a call that waited for the workspace. */
  toolStarted(call: ToolCall): Promise<void>
  toolFinished(finished: FinishedCall): Promise<Signals>
  /** Records an ERROR entry that does not end the run, and the message that informs the model. */
  trouble(code: string, message: string, notice: ModelMessage): Promise<void>
  compacted(keep_last: number): Promise<void>
}
