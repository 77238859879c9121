/** One attempt to fix failing checks: the commit, and the checks that the agent was requested to fix. */
export type CheckRound = {
  head_sha: string
  /** The tree of that commit. */
  tree: string
  /** `attempt`: the number of the attempt of the check itself, for this commit. */
  failing: { name: string; attempt: number }[]
  worked_on: string[]
  /** The number of findings in the commits. */
  findings: number
  attempt: number
}

export const stopReasons = {
  attempts_used: 'the settings of the repository allow no more attempts for one commit',
  not_converging: 'as many attempts as the settings of the repository allow did not leave fewer of them',
  same_diff: 'the files are what they were in an earlier attempt',
  findings_grew: 'the last attempt left more problems than there were before',
  needs_person: 'no code change helps when a check was cancelled or waits for a person',
  pull_request_ended: 'its pull request was closed or merged',
  time_over: 'checks were waited for as long as the service does',
} as const
/** Why failing checks are no longer worked on. */
export type StopReason = keyof typeof stopReasons

export type FailingCheck = { name: string; attempt: number; fixable: boolean }
export type FoundFailures = {
  head_sha: string
  tree: string
  failing: readonly FailingCheck[]
  findings: number
}

/**
 * `attempt` of `max_attempts` counts from the moment at which the number of failing checks last reached a new
 * minimum in the turn.
 */
export type NextRound = { attempt: number; max_attempts: number } & (
  | { kind: 'work'; on: string[] }
  | { kind: 'stop'; because: StopReason }
)

/**
 * Returns whether failing checks go back to the agent once more. Two independent guards: for one commit a
 * check is worked on as often as `allowed` permits; and over all commits of the turn there must be progress:
 * fewer failing checks within a number of attempts, never the same files again, and never more problems than
 * before. `rounds`: the attempts of this turn, oldest first.
 */
export function nextRound(
  rounds: readonly CheckRound[],
  found: FoundFailures,
  allowed: (name: string) => number,
): NextRound {
  const names = found.failing.filter(check => check.fixable).map(check => check.name)
  const since = sinceProgress(rounds, found.failing.length)
  const max_attempts = Math.max(0, ...names.map(allowed))
  const stop = (because: StopReason): NextRound => ({
    kind: 'stop',
    because,
    attempt: since.length,
    max_attempts,
  })
  if (names.length === 0) return stop('needs_person')
  if (isOldFiles(rounds, found)) return stop('same_diff')
  if (hasGrown(rounds.at(-1), found) && since.length > 0) return stop('findings_grew')
  const here = rounds.filter(round => round.head_sha === found.head_sha)
  const usedUp = (name: string) => timesOf(here, name) >= allowed(name)
  const on = names.filter(name => !usedUp(name) && timesOf(since, name) < allowed(name))
  if (on.length === 0) return stop(names.every(usedUp) ? 'attempts_used' : 'not_converging')
  if (since.length >= max_attempts) return stop('not_converging')
  return { kind: 'work', on, attempt: since.length + 1, max_attempts }
}

/**
 * Returns the attempts since the number of failing checks last reached a new minimum, counting the current
 * `failing`.
 */
function sinceProgress(rounds: readonly CheckRound[], failing: number): readonly CheckRound[] {
  let fewest = Number.POSITIVE_INFINITY
  let from = 0
  for (const [i, round] of rounds.entries()) {
    if (round.failing.length >= fewest) continue
    fewest = round.failing.length
    from = i
  }
  return failing < fewest ? [] : rounds.slice(from)
}

/**
 * Returns whether the files are those of an earlier commit, or of the same one without a new check attempt.
 */
function isOldFiles(rounds: readonly CheckRound[], found: FoundFailures): boolean {
  if (rounds.some(round => round.tree === found.tree && round.head_sha !== found.head_sha)) return true
  const last = rounds.at(-1)
  if (last?.head_sha !== found.head_sha) return false
  return found.failing.every(({ name, attempt }) =>
    last.failing.some(known => known.name === name && known.attempt >= attempt),
  )
}

/** A difference at the same commit is flakiness. */
const hasGrown = (last: CheckRound | undefined, now: FoundFailures) =>
  last !== undefined &&
  last.head_sha !== now.head_sha &&
  now.failing.length + now.findings > last.failing.length + last.findings

const timesOf = (rounds: readonly CheckRound[], name: string) =>
  rounds.filter(round => round.worked_on.includes(name)).length
