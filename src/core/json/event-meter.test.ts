import { createParser } from 'eventsource-parser'
import fc from 'fast-check'
import { expect, test } from 'vitest'
import { EventMeter } from './event-meter.ts'
import { JsonMeter } from './json-meter.ts'

const bounds = { bytes: 1_000_000, depth: 3, values: 4 }

/** Whether the parser of the libraries delivers an event whose data exceed a bound. */
function delivers(text: string): boolean {
  let exceeded = false
  const onEvent = ({ data }: { data: string }) => {
    exceeded ||= new JsonMeter(bounds).add(Buffer.from(data)) !== null
  }
  const parser = createParser({ onEvent, onError() {} })
  parser.feed(new TextDecoder().decode(Buffer.from(text)))
  return exceeded
}

const refuses = (text: string, size = text.length) => {
  const meter = new EventMeter(bounds)
  const bytes = Buffer.from(text)
  for (let at = 0; at < bytes.length; at += size)
    if (meter.add(bytes.subarray(at, at + size)) !== null) return true
  return false
}

test('an event whose data exceed a bound is refused, and the next event is counted from zero', () => {
  expect(refuses('data: [1,2,3]\n\ndata: [1,2,3]\n\n')).toBe(false)
  expect(refuses('data: [1,2,3]\n\ndata: [1,2,3,4]\n\n')).toBe(true)
  expect(refuses('data: [1,\ndata: 2,\ndata: 3,4]\n\n')).toBe(true)
  expect(refuses('event: [,,,,,,]\nid: [[[[[[\n: ,,,,,,\ndata: 1\n\n')).toBe(false)
})

const pieces = [
  'data:',
  'data: ',
  'dat',
  'id: ',
  ': ',
  '[',
  '{},',
  '1,',
  '"',
  '\\\\',
  ']',
  '\n',
  '\r',
  '\r\n',
  '\uFEFF',
  '\u00EF\u00BB\u00BF',
  'é',
  ' ',
]

const values = fc.constantFrom('[', '{},', '1,', '[],')
const piece = fc.oneof({ weight: 3, arbitrary: values }, { weight: 2, arbitrary: fc.constantFrom(...pieces) })

test('nothing that the parser of the libraries delivers escapes the count, however lines end and the bytes are split', () => {
  const cases = { exceeding: 0 }
  fc.assert(
    fc.property(
      fc.array(piece, { minLength: 5, maxLength: 40 }),
      fc.integer({ min: 1, max: 9 }),
      (parts, size) => {
        const text = `data: ${parts.join('')}\n\n`
        if (!delivers(text)) return
        cases.exceeding++
        expect(refuses(text, size)).toBe(true)
      },
    ),
    { numRuns: 20_000 },
  )
  expect(cases.exceeding).toBeGreaterThan(100)
})

test.each([
  '\uFEFFdata: [1,2,3,4]\n\n',
  '\u00EF\u00BB\u00BFdata: [1,2,3,4]\n\n',
  'data: [\rdata: 1,2,3,4]\r\r',
])('a mark or another end of line hides no data: %j', text =>
  expect([delivers(text), refuses(text, 1)]).toEqual([true, true]),
)
