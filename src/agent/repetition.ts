import type { ToolCall } from '../model/port.ts'
import type { ToolOutcome } from './tool.ts'

/**
 * Repetitions of a cycle of one, two, three and four calls that end the run. A cycle of four is 20 calls
 * then.
 */
const END_AT = [8, 6, 5, 5]
const WARN_AT = 3

/** `calls`: the length of the cycle that is repeated. */
export type Repetition = { kind: 'none' } | { kind: 'warn' | 'end'; calls: number }
export type RepetitionGuard = (call: ToolCall, outcome: Pick<ToolOutcome, 'output'>) => Repetition

/** Detects a model that repeats a cycle of up to four calls with the same results. */
export function createRepetitionGuard(): RepetitionGuard {
  const seen: string[] = []
  // For each length of a cycle: the number of calls in a row that equal the call that length before.
  const equal = END_AT.map(() => 0)
  return (call, outcome) => {
    const now = JSON.stringify([call.name, call.input ?? call.invalid, outcome.output])
    for (const [i, count] of equal.entries()) equal[i] = seen[i] === now ? count + 1 : 0
    seen.unshift(now)
    seen.length = Math.min(seen.length, END_AT.length)
    const repeated = END_AT.map((end_at, i) => ({
      calls: i + 1,
      end_at,
      times: 1 + Math.floor((equal[i] ?? 0) / (i + 1)),
    }))
    const found = (is: (cycle: (typeof repeated)[number]) => boolean) => repeated.find(is)?.calls
    const [end, warn] = [
      found(({ times, end_at }) => times >= end_at),
      found(({ times }) => times >= WARN_AT),
    ]
    if (end !== undefined) return { kind: 'end', calls: end }
    return warn === undefined ? { kind: 'none' } : { kind: 'warn', calls: warn }
  }
}
