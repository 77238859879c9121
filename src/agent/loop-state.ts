import type { TurnOutcome } from '../core/runs/outcome.ts'
import type { Model, ModelMessage, ModelRequest, ToolCall, ToolSpec } from '../model/port.ts'
import type { BackgroundRedactor } from '../redaction/port.ts'
import type { Conversation, TurnEnding } from './conversation.ts'
import type { FolderInstructions } from './folder-instructions.ts'
import type { LoopJournal } from './journal.ts'
import type { Meter, PlannedCall } from './meter.ts'
import type { ModelRetryPolicy } from './model-retry-policy.ts'
import type { RepetitionGuard } from './repetition.ts'
import type { TokenEstimate } from './token-estimate.ts'
import type { ExternalTools, ToolContext, ToolTable } from './tool.ts'

export type LoopInput = {
  model: Model
  instructions: string
  /** Goes with every request of the run. */
  request: Pick<ModelRequest, 'reasoning_effort' | 'cache_key'>
  tools: ToolTable
  /**
   * Returns the tools of other parties that the run has as well. Called before the first model call; none
   * after an abort of `signal`.
   */
  openTools(): Promise<ExternalTools>
  folder_instructions: FolderInstructions
  conversation: Conversation
  journal: LoopJournal
  meter: Meter
  /**
   * The tokens from which on the conversation is compacted before a call: fewer once a provider has named its
   * window.
   */
  context: { limit(): number; estimate: TokenEstimate }
  retry: ModelRetryPolicy
  timeouts: ModelRequest['timeouts']
  sandbox: ToolContext['sandbox']
  /**
   * The installed programs with their versions, for a result when the conversation does not have them; null:
   * not known.
   */
  programs(): Promise<string | null>
  runs: ToolContext['runs']
  skills: ToolContext['skills']
  web: ToolContext['web']
  /**
   * Redacts everything that is stored, shown or sent back to the model, once. Tools run with the unredacted
   * input.
   */
  redactor: BackgroundRedactor
  /** Maximum timeout of a command. */
  tool_seconds: number
  /** Whether a tool can start without waiting for the workspace. */
  sandboxReady(): boolean
  /** Aborted when the run must stop. */
  signal: AbortSignal
  /** Whether to stop before the next step, with no intent left open. */
  leaving(): boolean
  /** Returns a new signal for every step: aborted with `signal`, or when a person interrupts the step. */
  stepSignal(): AbortSignal
  /** Called while a model call is in progress. */
  on_model_call(): void
  /** Called when data arrives from the model. */
  on_progress(): void
  on_delta(delta: { kind: 'text' | 'reasoning'; text: string }): void
  /** Called before a tool starts; resolves when it may. */
  on_tool(call: ToolCall, signal: AbortSignal): Promise<void> | void
  on_output(call: ToolCall, chunk: Uint8Array): void
}

/** The agent ended its turn itself, so its work is published; or the turn ends without that. */
export type LoopOutcome = TurnEnding | TurnOutcome

/** What changes from step to step. */
export type LoopState = {
  messages: ModelMessage[]
  /** Responses and tokens of this turn so far. */
  steps: number
  tokens: number
  /** Ids of all calls of the run. */
  call_ids: Set<string>
  /**
   * Whether the agent has called a tool in this turn, and whether it received a request to continue or to
   * finish since the last call.
   */
  called: boolean
  nudged: boolean
  /** Consecutive responses without content. */
  empty: number
  /** The limit that follows from refusals of the conversation as too long; infinite without one. */
  refused_tokens: number
  /** Consecutive such refusals. */
  refusals: number
  /** The model call that is recorded and not started yet. */
  planned: PlannedCall | null
  repeats: RepetitionGuard
  external: ExternalTools
  specs: ToolSpec[]
}
