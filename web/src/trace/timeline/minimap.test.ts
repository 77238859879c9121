import { expect, test } from 'vitest'
import type { TimelinePart } from '../../../../src/contract/runs/timeline.ts'
import { bars, entryAt, mapHeight } from './minimap.ts'

const part = (from_seq: number, through_seq: number, more: Partial<TimelinePart> = {}): TimelinePart => ({
  from_seq,
  through_seq,
  turn: 1,
  failed: 0,
  cost_usd: '0',
  started_at: '2026-11-20T10:00:00.000Z',
  ended_at: '2026-11-20T10:00:01.000Z',
  kinds: [{ message_type: 'ACTION', tool_name: 'shell', entries: 1 }],
  ...more,
})
const kind = (
  message_type: TimelinePart['kinds'][number]['message_type'],
  tool_name: string | null = null,
) => ({
  message_type,
  tool_name,
  entries: 1,
})

test('bars follow each other and fill the map, whatever the number of entries', () => {
  const all = bars([part(1, 50_000), part(50_001, 100_000)], 100_000, 400)
  expect(all.map(({ top, height }) => [top, height])).toEqual([
    [0, 200],
    [200, 200],
  ])
  expect(mapHeight(10, 400)).toBe(120)
  expect(bars([part(1, 1)], 10, 400)[0]?.height).toBe(12)
})

test('a bar is the longer the longer its entries took', () => {
  const [short, long] = bars([part(1, 1), part(2, 2, { ended_at: '2026-11-20T10:05:00.000Z' })], 2, 100)
  expect(long?.width).toBe(1)
  expect(short?.width).toBeLessThan(1)
  expect(short?.width).toBeGreaterThan(0.2)
})

test.each([
  [[kind('ACTION', 'shell'), kind('USER_MESSAGE')], 'user'],
  [[kind('ACTION', 'shell'), kind('FINAL_ANSWER')], 'answer'],
  [[kind('PLAN_EVALUATION')], 'plan'],
  [[kind('ACTION', 'edit')], 'change'],
  [[kind('ACTION', 'setup_command')], 'command'],
  [[kind('ACTION', 'read')], 'other'],
  [[kind('ERROR')], 'other'],
] as const)('the color of %j is %s', (kinds, color) => {
  expect(bars([part(1, 1, { kinds: [...kinds] })], 1, 100)[0]?.color).toBe(color)
})

test('each position of the map belongs to an entry, and positions outside to the first and the last', () => {
  expect([-5, 0, 199.9, 200, 400, 900].map(y => entryAt(y, 100_000, 400))).toEqual([
    0, 0, 49_975, 50_000, 99_999, 99_999,
  ])
  expect(entryAt(300, 10, 400)).toBe(9)
  expect(entryAt(10, 0, 400)).toBe(0)
})

test('the tick of a failure is as strong as failures are frequent, and a single one can be seen', () => {
  const parts = [
    part(1, 100),
    part(101, 200, { failed: 2 }),
    part(201, 300, { failed: 100 }),
    part(301, 400, { failed: 80 }),
  ]
  expect(bars(parts, 400, 100).map(({ failed }) => Number(failed.toFixed(2)))).toEqual([0, 0.3, 1, 0.89])
  expect(bars([part(1, 1, { failed: 1 })], 1, 100)[0]?.failed).toBe(1)
})
