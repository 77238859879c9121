import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { type CheckRound, type FoundFailures, nextRound } from './check-rounds.ts'

const found = (
  tree: string,
  names: string[],
  more: Partial<FoundFailures> & { attempt?: number } = {},
): FoundFailures => ({
  head_sha: `sha-${tree}`,
  tree,
  findings: 0,
  failing: names.map(name => ({ name, attempt: more.attempt ?? 1, fixable: true })),
  ...more,
})
/** Plays the findings in order until it stops; returns the reasons and the checks that were worked on. */
function play(all: FoundFailures[], allowed: (name: string) => number) {
  const rounds: CheckRound[] = []
  for (const now of all) {
    const next = nextRound(rounds, now, allowed)
    if (next.kind === 'stop') return { rounds, stopped: next }
    const { head_sha, tree, failing, findings } = now
    rounds.push({
      head_sha,
      tree,
      failing: [...failing],
      findings,
      worked_on: next.on,
      attempt: next.attempt,
    })
  }
  return { rounds, stopped: null }
}
const thrice = () => 3

describe('it stops', () => {
  test('when the allowed attempts did not leave fewer failing checks, and reports it', () => {
    const { rounds, stopped } = play(
      ['1', '2', '3', '4'].map(tree => found(tree, ['test'])),
      thrice,
    )
    expect(rounds.map(round => round.attempt)).toEqual([1, 2, 3])
    expect(stopped).toEqual({ kind: 'stop', because: 'not_converging', attempt: 3, max_attempts: 3 })
  })

  test('when another check fails each time, as often as one may be worked on', () => {
    const turns = ['a', 'b', 'a', 'b', 'c'].map((name, i) => found(`${i}`, [name]))
    expect(play(turns, () => 2)).toMatchObject({
      rounds: [{}, {}],
      stopped: { because: 'not_converging', attempt: 2 },
    })
  })

  test('at one commit after as many attempts as are allowed, though the checks ran again each time', () => {
    const again = [1, 2, 3, 4].map(attempt => found('1', ['test'], { attempt }))
    const { rounds, stopped } = play(again, thrice)
    expect([rounds.length, stopped]).toMatchObject([3, { because: 'attempts_used' }])
    expect(play(again, () => 0)).toMatchObject({
      rounds: [],
      stopped: { because: 'attempts_used', attempt: 0, max_attempts: 0 },
    })
  })

  test('when the same files recur, in another commit or in the same one without a new check run', () => {
    const back = [found('1', ['a', 'b']), found('2', ['a']), { ...found('1', ['a']), head_sha: 'another' }]
    expect(play(back, thrice)).toMatchObject({ rounds: [{}, {}], stopped: { because: 'same_diff' } })
    expect(play([found('1', ['a']), found('1', ['a'])], thrice)).toMatchObject({
      rounds: [{}],
      stopped: { because: 'same_diff' },
    })
  })

  test('when there is more to fix than before: checks, or findings in the commits', () => {
    expect(play([found('1', ['a']), found('2', ['a', 'b'])], thrice).stopped).toMatchObject({
      because: 'findings_grew',
    })
    expect(play([found('1', ['a']), found('2', ['a'], { findings: 1 })], thrice).stopped).toMatchObject({
      because: 'findings_grew',
    })
    // Fewer failing checks are progress, regardless of other findings.
    expect(play([found('1', ['a', 'b']), found('2', ['a'], { findings: 9 })], thrice).stopped).toBe(null)
  })

  test('when nothing can be fixed', () => {
    const cancelled = found('1', [], { failing: [{ name: 'a', attempt: 1, fixable: false }] })
    expect(play([cancelled], thrice).stopped).toMatchObject({ because: 'needs_person' })
  })
})

describe('it continues', () => {
  test('as long as fewer checks fail, each time with as many attempts again', () => {
    const { rounds, stopped } = play(
      [found('1', ['a', 'b', 'c']), found('2', ['b', 'c']), found('3', ['c'])],
      () => 1,
    )
    expect([rounds.map(round => round.attempt), stopped]).toEqual([[1, 1, 1], null])
  })

  test('with the checks that have attempts left', () => {
    const allowed = (name: string) => (name === 'lint' ? 1 : 3)
    const { rounds } = play(
      ['1', '2', '3'].map(tree => found(tree, ['lint', 'test'])),
      allowed,
    )
    expect(rounds.map(round => round.worked_on)).toEqual([['lint', 'test'], ['test'], ['test']])
  })
})

describe('for any findings', () => {
  const names = ['a', 'b', 'c', 'd']
  const anything = fc.array(
    fc.record({
      head: fc.nat(6),
      tree: fc.nat(4),
      failing: fc.subarray(names, { minLength: 1 }),
      fixable: fc.boolean(),
      attempt: fc.nat(5),
      findings: fc.nat(3),
    }),
    { minLength: 60, maxLength: 60 },
  )
  const counts = fc.record({ a: fc.nat(4), b: fc.nat(4), c: fc.nat(4), d: fc.nat(4) })
  const asFound = (one: {
    head: number
    tree: number
    failing: string[]
    fixable: boolean
    attempt: number
    findings: number
  }): FoundFailures => ({
    head_sha: `h${one.head}`,
    tree: `t${one.tree}`,
    findings: one.findings,
    failing: one.failing.map(name => ({ name, attempt: one.attempt, fixable: one.fixable })),
  })

  test('it ends, within as many attempts for each failing check as are allowed', () => {
    fc.assert(
      fc.property(anything, counts, (all, count) => {
        const { rounds, stopped } = play(all.map(asFound), name => count[name as keyof typeof count])
        const most = Math.max(...Object.values(count))
        expect(stopped).not.toBe(null)
        expect(rounds.length).toBeLessThanOrEqual(names.length * most)
        // Every attempt was one of those that may be, at something that failed.
        for (const round of rounds) {
          expect(round.attempt).toBeLessThanOrEqual(most)
          expect(round.worked_on.length).toBeGreaterThan(0)
          for (const name of round.worked_on) expect(round.failing.map(check => check.name)).toContain(name)
        }
      }),
    )
  })

  test('no commit has more attempts than a check of it may have, and no files recur', () => {
    fc.assert(
      fc.property(anything, counts, (all, count) => {
        const { rounds } = play(all.map(asFound), name => count[name as keyof typeof count])
        for (const name of names)
          for (const head of new Set(rounds.map(round => round.head_sha)))
            expect(
              rounds.filter(round => round.head_sha === head && round.worked_on.includes(name)).length,
            ).toBeLessThanOrEqual(count[name as keyof typeof count])
        for (const [i, round] of rounds.entries())
          expect(
            rounds
              .slice(0, i)
              .some(before => before.tree === round.tree && before.head_sha !== round.head_sha),
          ).toBe(false)
      }),
    )
  })
})
