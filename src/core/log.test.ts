import { expect, test } from 'vitest'
import { createLog, errorText, log_levels, logWith } from './log.ts'

const now = () => new Date('2026-11-20T10:30:00.000Z')

test('a line is one JSON object with time, level, message and additional fields', () => {
  const lines: string[] = []
  const log = logWith(
    createLog('debug', line => lines.push(line), now),
    { run_id: 7 },
  )
  log('warn', 'two\nlines', { epoch: 2 })
  expect(lines).toEqual([
    '{"time":"2026-11-20T10:30:00.000Z","level":"warn","message":"two\\nlines","run_id":7,"epoch":2}\n',
  ])
})

test.each(log_levels)('from level %s on lines are written, and none below', least => {
  const lines: string[] = []
  const log = createLog(least, line => lines.push(line), now)
  for (const level of log_levels) log(level, 'said')
  expect(lines.map(line => JSON.parse(line).level)).toEqual(log_levels.slice(log_levels.indexOf(least)))
})

test('fields that are not JSON are lost without the line', () => {
  const lines: string[] = []
  const loop: Record<string, unknown> = { id: 1n }
  loop.loop = loop
  createLog('info', line => lines.push(line), now)('error', 'failed', loop)
  expect(lines.map(line => JSON.parse(line))).toMatchObject([{ level: 'error', message: 'failed' }])
})

test('the message of a database error is omitted, because it quotes values of the query', () => {
  const quoting = Object.assign(new Error('invalid input syntax for type integer: "my\nsecret"'), {
    severity: 'ERROR',
    code: '22P02',
  })
  expect(errorText(quoting)).toMatch(/^error 22P02 of the database\n {4}at /)
  expect(errorText(quoting)).not.toContain('secret')
  const missing = Object.assign(new Error('relation "runs" does not exist'), {
    severity: 'ERROR',
    code: '42P01',
  })
  expect(errorText(missing)).toMatch(/^Error: relation "runs" does not exist\n/)
  expect(errorText(new Error('ours'))).toMatch(/^Error: ours\n {4}at /)
  expect(errorText('words')).toBe('words')
})
