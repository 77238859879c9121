import type { ToolCall } from '../model/port.ts'
import type { ToolOutcome } from './tool.ts'

const WARN_AT = 3
const END_AT = 8

export type Repetition = 'none' | 'warn' | 'end'

/** Notices a model that does the same thing with the same result again and again. */
export function createRepetitionGuard(): (call: ToolCall, outcome: Pick<ToolOutcome, 'output'>) => Repetition {
  let last = ''
  let times = 0
  return (call, outcome) => {
    const now = JSON.stringify([call.name, call.input ?? call.invalid, outcome.output])
    times = now === last ? times + 1 : 1
    last = now
    return times >= END_AT ? 'end' : times >= WARN_AT ? 'warn' : 'none'
  }
}
