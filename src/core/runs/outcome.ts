import type { CompletionReason, failureReasons, pauseReasons, RunStatus } from '../../contract/runs/runs.ts'
import type { LimitReached } from './budget/limits.ts'
import { completionOf, type OutcomeFacts } from './completion.ts'
import type { Move } from './run-transitions.ts'

/** Why a turn failed. `tool_name`: the tool that failed; without it, the one that was running. */
export type Failure = {
  kind: 'failed'
  reason: (typeof failureReasons)[number]
  code: string
  message: string
  phase: 'agent' | 'clone' | 'model' | 'push' | 'sandbox' | 'setup' | 'workspace'
  tool_name?: string | null
}

/** `reason`: why it did not do everything that was requested; `text` names it. */
type CompletedOutcome = {
  kind: 'completed'
  text: string
  thought: string | null
  reason: CompletionReason | null
}

/**
 * `approval_of`: what needs approval, the head of a push or the digest of a tool call; null: the run waits
 * for an answer.
 */
export type WaitingOutcome = { kind: 'waiting'; approval_of: string | null }

/**
 * Something that the run needs ended from outside: its sandbox, or a program. Another worker may continue the
 * turn.
 */
export type LostOutcome =
  | { kind: 'sandbox_lost'; message: string; out_of_memory: boolean }
  | { kind: 'killed'; code: 'git_killed' | 'agent_killed'; message: string }

/** How a turn ends. */
export type TurnOutcome =
  | CompletedOutcome
  | WaitingOutcome
  | { kind: 'waiting_for_checks'; seconds: number }
  | { kind: 'paused'; reason: (typeof pauseReasons)[number]; message: string }
  | Failure
  | LostOutcome
  /**
   * It stopped because its `Control` requested that, which then states the outcome: this one, if a person
   * stopped the run.
   */
  | { kind: 'stop' }
  /** Its worker releases the run to another one. */
  | { kind: 'shutdown' }
  /** The run belongs to another worker, which writes its outcome. */
  | { kind: 'lost' }

/** Returns the outcome of a turn with an answer, which names everything that was not done. */
export function completed(
  { text, thought }: Pick<CompletedOutcome, 'text' | 'thought'>,
  facts: OutcomeFacts,
): CompletedOutcome {
  const { reason, sentences } = completionOf(facts)
  return { kind: 'completed', text: [text, ...sentences].join('\n\n'), thought, reason }
}

/**
 * Returns the outcome of a turn that reached a limit: that of a budget pauses the run, a ceiling of the
 * service ends it.
 */
export function outcomeOfLimit(limit: LimitReached): TurnOutcome & { kind: 'paused' | 'failed' } {
  if (limit.kind === 'budget') return { kind: 'paused', reason: 'budget', message: limit.message }
  return { kind: 'failed', reason: limit.reason, code: limit.reason, message: limit.message, phase: 'agent' }
}

/** An outcome with a status of its own. After the others, another worker continues the turn. */
export type FinalOutcome = Exclude<TurnOutcome, LostOutcome | { kind: 'shutdown' | 'lost' }>

/**
 * Returns the status that a run gets by the outcome of its turn. `answer_seconds`: how long it waits for a
 * person.
 */
export function moveOf(outcome: FinalOutcome, answer_seconds: number): Move & { from: readonly RunStatus[] } {
  const working = ['starting', 'running'] as const
  switch (outcome.kind) {
    case 'completed':
      return { from: ['running'], to: 'completed', because: outcome.reason, result: outcome.text }
    case 'waiting': {
      const because = outcome.approval_of === null ? 'user_input' : 'tool_approval'
      return { from: ['running'], to: 'waiting', because, deadline_seconds: answer_seconds }
    }
    case 'waiting_for_checks':
      return { from: ['running'], to: 'waiting', because: 'ci', deadline_seconds: outcome.seconds }
    case 'paused': {
      const { reason, message } = outcome
      return { from: working, to: 'paused', because: reason, error: { code: reason, message } }
    }
    case 'failed': {
      const { reason, code, message } = outcome
      return { from: working, to: 'failed', because: reason, error: { code, message } }
    }
    case 'stop':
      return { from: ['cancelling'], to: 'cancelled' }
  }
}
