import { isObject, numberAt, objectsAt, textAt } from './fields.ts'
import type { EntrySummary } from './summary-types.ts'

/**
 * Why the agent stopped fixing checks, as text (src/core/pull-requests/check-rounds.ts has the text for
 * answers).
 */
const stopped: Record<string, string> = {
  attempts_used: 'attempt limit reached',
  not_converging: 'no progress',
  same_diff: 'same change as before',
  findings_grew: 'more findings than before',
  needs_person: 'needs a person',
  pull_request_ended: 'pull request is closed',
  time_over: 'timed out',
}

const stoppedBecause = (observation: unknown): string | null => {
  const because = textAt(observation, 'stopped_because')
  return because === null ? null : (stopped[because] ?? because)
}

const namesIn = (observation: unknown, key: string): string[] => {
  const list = isObject(observation) ? observation[key] : null
  return Array.isArray(list) ? list.filter(name => typeof name === 'string') : []
}

/** Which checks of a commit failed. */
export function detectedSummary(observation: unknown): EntrySummary {
  const names = objectsAt(observation, 'checks').flatMap(check => textAt(check, 'name') ?? [])
  const [attempt, max] = [numberAt(observation, 'attempt'), numberAt(observation, 'max_attempts')]
  const note = attempt === null || max === null || max === 0 ? null : `attempt ${attempt} of ${max}`
  return { kind: 'evaluation', label: 'Checks failed', line: names.join(', '), tone: 'bad', note }
}

/** The outcome of an attempt to fix them. */
export function fixedSummary(observation: unknown): EntrySummary {
  const [fixed, left] = [namesIn(observation, 'fixed_checks'), namesIn(observation, 'remaining_checks')]
  const parts = [
    ...(fixed.length > 0 ? [`${fixed.join(', ')} ${fixed.length === 1 ? 'passes' : 'pass'} now`] : []),
    ...(left.length > 0 ? [`${left.join(', ')} still ${left.length === 1 ? 'fails' : 'fail'}`] : []),
  ]
  const because = stoppedBecause(observation)
  const tone = because !== null ? 'bad' : left.length > 0 ? 'warn' : 'ok'
  const label =
    because !== null ? 'Stopped retrying checks' : left.length > 0 ? 'Checks still failing' : 'Checks fixed'
  return { kind: 'evaluation', label, line: parts.join('; '), tone, note: because }
}
