import type { EntrySummary } from './entry-summary.ts'
import { isObject, numberAt, objectsAt, textAt } from './fields.ts'

/** Why failing checks are not worked on any more, in words (src/core/pull-requests/check-rounds.ts has them for answers). */
const stopped: Record<string, string> = {
  attempts_used: 'as many attempts as are allowed',
  not_converging: 'not getting better',
  same_diff: 'the same files as before',
  findings_grew: 'more to mend than before',
  needs_person: 'wants a person',
  pull_request_ended: 'pull request is over',
  time_over: 'waited long enough',
}

export const stoppedBecause = (observation: unknown): string | null => {
  const because = textAt(observation, 'stopped_because')
  return because === null ? null : (stopped[because] ?? because)
}

export const namesIn = (observation: unknown, key: string): string[] => {
  const list = isObject(observation) ? observation[key] : null
  return Array.isArray(list) ? list.filter(name => typeof name === 'string') : []
}

/** Which checks of a commit failed. */
export function detectedSummary(observation: unknown): EntrySummary {
  const names = objectsAt(observation, 'checks').flatMap(check => textAt(check, 'name') ?? [])
  const [attempt, most] = [numberAt(observation, 'attempt'), numberAt(observation, 'max_attempts')]
  const note = attempt === null || most === null || most === 0 ? null : `attempt ${attempt} of ${most}`
  return { kind: 'evaluation', label: 'Checks failed', line: names.join(', '), tone: 'bad', note }
}

/** What came of an attempt to mend them. */
export function fixedSummary(observation: unknown): EntrySummary {
  const [mended, left] = [namesIn(observation, 'fixed_checks'), namesIn(observation, 'remaining_checks')]
  const said = [
    ...(mended.length > 0 ? [`${mended.join(', ')} ${mended.length === 1 ? 'passes' : 'pass'} now`] : []),
    ...(left.length > 0 ? [`${left.join(', ')} still ${left.length === 1 ? 'fails' : 'fail'}`] : []),
  ]
  const because = stoppedBecause(observation)
  const tone = because !== null ? 'bad' : left.length > 0 ? 'warn' : 'ok'
  const label = because !== null ? 'Checks given up' : left.length > 0 ? 'Checks not mended' : 'Checks mended'
  return { kind: 'evaluation', label, line: said.join('; '), tone, note: because }
}
