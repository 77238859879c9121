import type { ToolCall } from '../model/port.ts'
import type { ToolOutcome } from './tool.ts'

const WARN_AT = 3
const END_AT = 8

export type Repetition = 'none' | 'warn' | 'end'
export type RepetitionGuard = (call: ToolCall, outcome: Pick<ToolOutcome, 'output'>) => Repetition

/** Detects a model that repeats the same call with the same result. */
export function createRepetitionGuard(): RepetitionGuard {
  let last = ''
  let times = 0
  return (call, outcome) => {
    const now = JSON.stringify([call.name, call.input ?? call.invalid, outcome.output])
    times = now === last ? times + 1 : 1
    last = now
    return times >= END_AT ? 'end' : times >= WARN_AT ? 'warn' : 'none'
  }
}
