import { expect, test } from 'vitest'
import { type KindRow, partStarts, timelineOf } from './timeline.ts'

const row = (part: number, from_seq: number, through_seq: number, more: Partial<KindRow> = {}): KindRow => ({
  part,
  from_seq,
  through_seq,
  turn: 1,
  message_type: 'ACTION',
  tool_name: 'shell',
  entries: through_seq - from_seq + 1,
  failed: 0,
  first_at: from_seq * 1000,
  last_at: through_seq * 1000,
  ...more,
})
const at = (seconds: number) => new Date(seconds * 1000).toISOString()

test('a short trace has a part for each entry, a long one equal parts, and a part begins with each section', () => {
  expect(partStarts(3, 500, [])).toEqual([1, 2, 3])
  expect(partStarts(10, 3, [{ seq: 6, title: null }])).toEqual([1, 5, 6, 9])
  expect(partStarts(0, 500, [])).toEqual([])
})

test('a part lasts from the entry before it, but the first one of a turn does not include the pause before the turn', () => {
  const { parts } = timelineOf([row(1, 1, 1), row(2, 2, 2), row(3, 90, 90, { turn: 2 })], [], [], true)
  expect(parts.map(({ started_at, ended_at }) => [started_at, ended_at])).toEqual([
    [at(1), at(1)],
    [at(1), at(2)],
    [at(90), at(90)],
  ])
})

test('the kinds of a part are counted together, the most frequent first', () => {
  const rows = [
    row(1, 1, 1, { message_type: 'ERROR', tool_name: null, failed: 1 }),
    row(1, 2, 4, { failed: 2 }),
  ]
  const { parts } = timelineOf(rows, [], [], true)
  expect(parts).toMatchObject([
    { from_seq: 1, through_seq: 4, failed: 3, kinds: [{ tool_name: 'shell', entries: 3 }, { entries: 1 }] },
  ])
})

test('sections divide a turn, plans that repeat the item in progress do not, and a turn begins without one', () => {
  const rows = [1, 2, 3, 4].map(seq => row(seq, seq, seq, { turn: seq === 4 ? 2 : 1 }))
  const sections = [
    { seq: 2, title: 'Find it' },
    { seq: 3, title: 'Find it' },
  ]
  const { turns } = timelineOf(rows, [], sections, true)
  expect(
    turns.map(({ turn, sections: parts }) => [
      turn,
      parts.map(part => [part.title, part.from_seq, part.through_seq]),
    ]),
  ).toEqual([
    [
      1,
      [
        [null, 1, 1],
        ['Find it', 2, 3],
      ],
    ],
    [2, [[null, 4, 4]]],
  ])
})

test('costs are summed without rounding errors; a call without an entry after it counts for the end of its turn', () => {
  const rows = [row(1, 1, 1), row(2, 2, 2), row(3, 3, 3, { turn: 2 })]
  const costs = [
    { part: 1, turn: 1, seq: 1, cost_usd: '0.1' },
    { part: 2, turn: 1, seq: 2, cost_usd: '0.2' },
    { part: 3, turn: 1, seq: 3, cost_usd: '0.0000001' },
  ]
  const { turns, parts } = timelineOf(rows, costs, [], true)
  expect(parts.map(part => part.cost_usd)).toEqual(['0.1', '0.2000001', '0'])
  expect(turns.map(turn => turn.cost_usd)).toEqual(['0.3000001', '0'])
  expect(timelineOf(rows, costs, [], false).parts[0]?.cost_usd).toBeNull()
})
