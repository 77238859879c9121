import type { AgentSession } from '../../../acp/agent-session.ts'
import type { LoopJournal, Signals } from '../../../agent/journal.ts'
import type { LimitReached } from '../../../core/runs/budget/limits.ts'
import type { ModelError } from '../../../model/port.ts'
import type { ServedTools } from '../../mcp/served-tools.ts'
import type { TurnMeter } from '../turn-limits.ts'
import type { Spending } from './gateway-meter.ts'
import type { ProgramTurn } from './program-turn.ts'
import type { UpdateRecorder } from './record-updates.ts'

/** A turn of a program while it works. */
export type State = {
  turn: ProgramTurn
  instructions: string
  meter: TurnMeter
  journal: LoopJournal
  spending: Spending
  recorder: UpdateRecorder
  served: ServedTools
  /** Calls of served tools in the turn so far. */
  served_calls: number
  /** Whether the agent may work: from a prompt until its outcome is known. */
  working: boolean
  session: AgentSession | null
  opened_here: boolean
  /** Whether the current prompt was the first one in a session of an earlier process. */
  continued: boolean
  /** Why the current prompt must end, apart from the end of the run. */
  limit: LimitReached | null
  messages_waiting: boolean
  /** The digest of a tool call that a person must approve. */
  approval: string | null
  /** The digest of the call that a person has approved, until it is permitted. */
  approved: string | null
  /** How the last call of the model failed; null: it did not. */
  last_failure: ModelError | null
  /** A call of this turn has offered tools to the model. */
  works_with_tools: boolean
  /** Requests the end of the current prompt, and awaits it for a short time only. */
  cancel: () => void
  /** The agent has reported or requested something. */
  active: () => void
}

export function onSignals(state: State, { messages_waiting }: Pick<Signals, 'messages_waiting'>): void {
  if (messages_waiting) interrupt(state, () => (state.messages_waiting = true))
  // A run that is handed over ends its prompt at a step, as the built-in agent does.
  else if (state.turn.control.leaving) state.cancel()
}

/**
 * Returns why the program gets nothing more from the service: what it did later would follow the outcome of
 * its turn. Null: it does.
 */
export function refusalOf({ turn, working, limit, approval }: State): string | null {
  if (mustStop(turn)) return 'The run stops.'
  if (limit !== null) return limit.message
  if (approval !== null) return 'The run waits for the approval of a person.'
  return working ? null : 'The agent has ended its turn.'
}

/** Counts a call of a served tool, or returns why it is not made. */
export function admitCall(state: State): string | null {
  const refusal = refusalOf(state)
  if (refusal !== null) return refusal
  const reached = state.meter.limitOfCalls(state.spending, state.served_calls)
  if (reached !== null) {
    interrupt(state, () => (state.limit = reached))
    return reached.message
  }
  state.served_calls++
  return null
}

export const mustStop = ({ control }: ProgramTurn): boolean => control.signal.aborted || control.leaving

export function interrupt(state: State, reason: () => void): void {
  reason()
  state.cancel()
}
