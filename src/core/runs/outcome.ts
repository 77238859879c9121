import type { CompletionReason, StatusReason } from '../../contract/runs/runs.ts'

/** Why something outside of the agent loop ends a run. */
export type EndReason =
  | { kind: 'stop' }
  | { kind: 'shutdown' }
  | { kind: 'lost' }
  | { kind: 'paused'; reason: 'budget' | 'user_request'; message: string }
  | { kind: 'sandbox_lost'; message: string; out_of_memory: boolean }
  /** A program that the run needs was killed from outside. */
  | { kind: 'killed'; code: 'git_killed' | 'agent_killed'; message: string }
  /** `tool_name`: the tool that failed; without it, the end names the tool that was running. */
  | { kind: 'failed'; reason: StatusReason; code: string; message: string; phase: string; tool_name?: string | null }

/** `approval_of`: what needs approval, the head of a push or the digest of a tool call; null: the run waits for an answer. */
export type Waiting = { kind: 'waiting'; approval_of: string | null }

/** `reason`: why it did not do everything that was requested; `text` names it. */
export type Completed = { kind: 'completed'; text: string; thought: string | null; reason: CompletionReason | null }

/** How a turn ends. */
export type End = EndReason | Completed | Waiting | { kind: 'waiting_for_checks'; seconds: number }
