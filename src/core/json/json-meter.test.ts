import fc from 'fast-check'
import { expect, test } from 'vitest'
import { JsonMeter } from './json-meter.ts'

const open = {
  bytes: Number.POSITIVE_INFINITY,
  depth: Number.POSITIVE_INFINITY,
  values: Number.POSITIVE_INFINITY,
}
const bytes = (text: string) => new TextEncoder().encode(text)

/** What a parser of the text must create. */
function valuesIn(value: unknown): number {
  const inner = typeof value === 'object' && value !== null ? Object.values(value) : []
  return inner.reduce<number>((sum, item) => sum + valuesIn(item), 1)
}
const depthOf = (value: unknown): number =>
  typeof value === 'object' && value !== null ? 1 + Math.max(0, ...Object.values(value).map(depthOf)) : 0

test('the values of every JSON text are counted exactly, however it is split and indented', () => {
  fc.assert(
    fc.property(
      fc.json({ depthSize: 'large' }),
      fc.integer({ min: 1, max: 7 }),
      fc.integer({ min: 0, max: 3 }),
      (json, size, indent) => {
        const text = bytes(JSON.stringify(JSON.parse(json), null, indent))
        const meter = new JsonMeter(open)
        for (let at = 0; at < text.length; at += size)
          expect(meter.add(text, at, Math.min(text.length, at + size))).toBeNull()
        expect(meter.values).toBe(valuesIn(JSON.parse(json)))
      },
    ),
  )
})

test('each bound is the largest number that passes', () => {
  fc.assert(
    fc.property(fc.json(), json => {
      const value: unknown = JSON.parse(json)
      const exact = { bytes: bytes(json).length, depth: depthOf(value), values: valuesIn(value) }
      expect(new JsonMeter(exact).add(bytes(json))).toBeNull()
      expect(new JsonMeter({ ...exact, bytes: exact.bytes - 1 }).add(bytes(json))?.limit).toBe('bytes')
      if (exact.depth > 0)
        expect(new JsonMeter({ ...exact, depth: exact.depth - 1 }).add(bytes(json))?.limit).toBe('depth')
      if (exact.values > 1)
        expect(new JsonMeter({ ...exact, values: exact.values - 1 }).add(bytes(json))?.limit).toBe('values')
    }),
  )
})

test('brackets, commas and quotes in a string are text', () => {
  const meter = new JsonMeter({ ...open, depth: 1, values: 2 })
  expect(meter.add(bytes(JSON.stringify({ a: '[[{"\\\\",,,"\\"[' })))).toBeNull()
  expect(meter.values).toBe(2)
})

test('the next text begins from zero', () => {
  const meter = new JsonMeter({ ...open, values: 3 })
  expect(meter.add(bytes('[1,"'))).toBeNull()
  meter.reset()
  expect(meter.add(bytes('[1,2]'))).toBeNull()
  meter.reset()
  expect(meter.add(bytes('[1,2,3]'))).toEqual({ limit: 'values', max: 3, message: 'has more than 3 values' })
})
