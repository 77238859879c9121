import type { Reservation } from '../core/runs/reservation.ts'
import type { ModelAnswer, ModelMessage, ToolCall } from '../model/port.ts'
import type { FailedAttempt } from './call-with-retries.ts'
import type { TurnEnding } from './conversation.ts'
import type { PlannedCall } from './meter.ts'
import type { ToolResult } from './tool.ts'

/** What the loop hears back from every write: whether people have said something meanwhile. */
export type Signals = { messages_waiting: boolean; interrupted: boolean }

/**
 * Where the loop writes what it is about to do and what came of it, before it goes on. Every method resolves when that is durable;
 * a rejection (the run is not ours any more) ends the loop.
 */
export type LoopJournal = {
  /** Takes what people sent; it is part of the conversation from then on. */
  deliver(): Promise<ModelMessage[]>
  /** Before each attempt of a model call: what it may take, and the notice that is part of the conversation from then on. */
  modelStarted(call: PlannedCall): Promise<Signals>
  /** The attempt came to nothing. `charge`: what is counted for it, null when it cost nothing. */
  modelFailed(failed: FailedAttempt, charge: Reservation | null): Promise<void>
  /** The call that was written down is not made. */
  modelNotCalled(): Promise<void>
  /** The answer, whether it ends the turn, and the intent to run `next` if it calls a tool that can start now. */
  modelAnswered(answer: ModelAnswer, ends_turn: TurnEnding | null, next: ToolCall | null): Promise<Signals>
  /** The intent of a call that had to wait for the workspace. */
  toolStarted(call: ToolCall): Promise<void>
  /** An outcome, and the intent for what comes now: the next call, or the model again. */
  toolFinished(
    call: ToolCall,
    result: ToolResult,
    message: ModelMessage,
    answer: ModelAnswer | null,
    ends_turn: TurnEnding | null,
    next: ToolCall | PlannedCall | null,
  ): Promise<Signals>
  /** Something that is worth an ERROR entry but does not end the run, and what the model is told about it. */
  trouble(code: string, message: string, told: ModelMessage): Promise<void>
  compacted(keep_last: number): Promise<void>
}
