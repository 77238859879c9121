import fc from 'fast-check'
import { expect, test } from 'vitest'
import { activeLabel, firstChanged, isForUs, isLabelOf } from './mention-rules.ts'

test('a text is for us when it mentions us and we did not write it; a label when it is our name', () => {
  expect(isForUs('@Agent, please', 'agent')).toBe(true)
  expect(isForUs('@agents', 'agent')).toBe(false)
  expect(isForUs('@agent <!-- agentrun: x -->', 'agent')).toBe(false)
  expect([isLabelOf('AGENT', 'agent'), isLabelOf('agents', 'agent'), isLabelOf('', '')]).toEqual([
    true,
    false,
    false,
  ])
})

test('of a label that was added and removed the last addition counts, until it is removed too', () => {
  const [given, taken, again] = [
    { id: 1, given: true },
    { id: 2, given: false },
    { id: 3, given: true },
  ] as const
  expect([[], [given], [given, taken], [given, taken, again]].map(activeLabel)).toEqual([null, 1, null, 3])
})

test('a client that continues from the last item reaches the end and misses nothing, with any number of simultaneous changes', () => {
  const seconds = fc.array(fc.integer({ min: 0, max: 20 }), { maxLength: 60 })
  fc.assert(
    fc.property(seconds, fc.integer({ min: 1, max: 10 }), (times, most) => {
      const changed = times
        .sort((a, b) => a - b)
        .map((second, id) => ({ id, changed_at: new Date(second * 1_000) }))
      const seen = new Set<number>()
      let since = new Date(0)
      for (let poll = 0; poll <= 21; poll++) {
        const left = changed.filter(({ changed_at }) => changed_at >= since)
        const some = firstChanged(left, since, most)
        for (const { id } of some) seen.add(id)
        if (some.length === left.length) break
        since = some.at(-1)?.changed_at ?? since
      }
      expect(seen.size).toBe(changed.length)
    }),
  )
})

test('at most that many are read at once, except those of one second', () => {
  const at = (second: number) => ({ changed_at: new Date(second * 1_000) })
  expect(firstChanged([1, 2, 3, 4].map(at), new Date(0), 2)).toHaveLength(2)
  expect(firstChanged([1, 2, 2, 2, 3].map(at), new Date(0), 2)).toHaveLength(4)
  expect(firstChanged([1, 1, 1, 2, 3].map(at), new Date(1_000), 2)).toHaveLength(4)
})
