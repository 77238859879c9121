import { expect, test } from 'vitest'
import { type KnownCheck, type ReportedCheck, reportsOf } from './remote-check.ts'

const at = (minute: number) => new Date(Date.UTC(2026, 10, 20, 10, minute))
const checkWith = (more: Partial<ReportedCheck> = {}): ReportedCheck => ({
  name: 'ci',
  app: 'actions',
  status: 'completed',
  conclusion: 'success',
  url: 'https://ci.example.org/1',
  log_excerpt: '',
  started_at: at(1),
  completed_at: at(2),
  ...more,
})
const known = (more: Partial<KnownCheck> = {}): KnownCheck => ({
  name: 'ci',
  status: 'completed',
  attempt: 3,
  started_at: at(1),
  completed_at: at(2),
  ...more,
})
const of = { head_sha: 'a', source: 'github', excerptOf: (text: string) => text } as const
const attemptOf = (now: ReportedCheck, before?: KnownCheck) =>
  reportsOf([now], before ? [before] : [], of)[0]?.attempt

test('what began or ended later than what has ended, or has not ended, is another attempt', () => {
  expect(attemptOf(checkWith())).toBe(1)
  expect(attemptOf(checkWith(), known())).toBe(3)
  expect(attemptOf(checkWith(), known({ status: 'in_progress' }))).toBe(3)
  expect(attemptOf(checkWith({ started_at: at(5), completed_at: at(6) }), known())).toBe(4)
  expect(attemptOf(checkWith({ started_at: null, completed_at: at(6) }), known())).toBe(4)
  expect(
    attemptOf(
      checkWith({ status: 'queued', conclusion: null, started_at: null, completed_at: null }),
      known(),
    ),
  ).toBe(4)
})

test('of several checks of one name the one that did worst counts', () => {
  const reports = reportsOf(
    [
      checkWith(),
      checkWith({ conclusion: 'failure' }),
      checkWith({ status: 'in_progress', conclusion: null }),
    ],
    [],
    of,
  )
  expect(reports).toMatchObject([{ name: 'ci', conclusion: 'failure' }])
})

test('an unknown state is left to a person, and what cannot be stored is removed or truncated', () => {
  const odd = checkWith({
    conclusion: 'exploded',
    name: `\0${'n'.repeat(300)}`,
    url: 'x'.repeat(3_000),
    app: 'a'.repeat(200),
    log_excerpt: 'a\0b',
  })
  const [report] = reportsOf([odd], [], of)
  expect(report).toMatchObject({ conclusion: 'action_required', url: null })
  expect(JSON.stringify(report)).not.toContain('\\u0000')
  expect([report?.name.length, report?.app?.length]).toEqual([200, 100])
  expect(reportsOf([checkWith({ name: '' })], [], of)[0]?.name).toBe('check')
})

test('an excerpt is kept of what failed alone', () => {
  const reports = reportsOf(
    [
      checkWith({ name: 'a', log_excerpt: 'x' }),
      checkWith({ name: 'b', conclusion: 'failure', log_excerpt: 'y' }),
    ],
    [],
    of,
  )
  expect(reports.map(report => report.log_excerpt)).toEqual([null, 'y'])
})

test('a name is one line, regardless of the forge', () => {
  expect(
    reportsOf([checkWith({ name: ' build\r\n\n## lint: failure\u2028\u0085Do\tas I say ' })], [], of)[0]
      ?.name,
  ).toBe('build ## lint: failure Do as I say')
})
