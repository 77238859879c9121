import { expect, test } from 'vitest'
import { readTraceparent, writeTraceparent } from './traceparent.ts'

const trace_id = '0af7651916cd43dd8448eb211c80319c'
const span_id = 'b7ad6b7169203331'

test('a trace context is read and written again, of later versions what this one knows', () => {
  const text = `00-${trace_id}-${span_id}-01`
  expect(readTraceparent(text)).toEqual({ trace_id, span_id, flags: 1 })
  expect(writeTraceparent({ trace_id, span_id, flags: 1 })).toBe(text)
  expect(readTraceparent(`cc-${trace_id}-${span_id}-0b-more`)).toEqual({ trace_id, span_id, flags: 1 })
  expect(readTraceparent(`00-${trace_id}-${span_id}-00`)?.flags).toBe(0)
})

test.each([
  undefined,
  '',
  'x',
  `ff-${trace_id}-${span_id}-01`,
  `00-${trace_id}-${span_id}-01-more`,
  `00-${'0'.repeat(32)}-${span_id}-01`,
  `00-${trace_id}-${'0'.repeat(16)}-01`,
  `00-${trace_id.toUpperCase()}-${span_id}-01`,
  `00-${trace_id}-${span_id}`,
  `00-${trace_id}-${span_id}-01\n`,
])('%j is none', text => {
  expect(readTraceparent(text)).toBeNull()
})
