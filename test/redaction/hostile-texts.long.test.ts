import { expect, test } from 'vitest'
import { createRedactor } from '../../src/redaction/redact.ts'
import { apartFrom, merged, outside } from '../../src/redaction/spans.ts'
import { shape_marks } from '../../src/redaction/token-shapes.ts'
import { countWork } from './count-work.ts'
import { begunWith, pickFrom, repeated, unitsOf } from './hostile-texts.ts'

const VALUE = 'kQ7wXz2mN9pLr4Ts'
const redactor = createRedactor([
  { name: 'A', value: VALUE },
  { name: 'LONG', value: `${'ab'.repeat(200)}c` },
  { name: 'ODD', value: 'Tr0ub4dor/and+3 "q\\uotes" & 100%41é' },
])
const pick = pickFrom(Number(process.env.TEST_SEED ?? 14))
/** Samples of a pattern. */
const each = 2 * Number(process.env.TEST_MORE ?? 1)

/** Something for every part of the redactor, so that all of its patterns run. */
const everything = [
  ...shape_marks,
  `-----BEGIN PRIVATE KEY-----\n${'a'.repeat(60)}\n-----END PRIVATE KEY-----`,
  `\x1b[1m[redacted:A] \\u0041 %41 &amp; \\\\ ${VALUE}\r\n x`,
].join(' ')

const LENGTH = 3_000
/** The size at which the work of a few shows beside that of all patterns. */
const LONG = 40_000
/** Twice the text is twice the work; the rest is for the halving of ordered lists. */
const GROWTH = 2.2
/** The cost of the ends of texts, regardless of their length, as a stream reads them. */
const ENDS = 20_000
/** Steps of one character: about twenty patterns and a hundred marks, in six readings. */
const MOST_A_CHAR = 3_000

const uses: [string, (text: string) => unknown][] = [
  ['text', text => redactor.text(text)],
  ['names', text => redactor.names(text)],
  ['stream', text => redactor.stream().push(text)],
  ['placeholders', text => redactor.placeholders(text)],
  ['gap', text => redactor.bytes(Buffer.from(text, 'latin1'), text.length >> 1)],
]

function expectLinear([what, use]: (typeof uses)[number], unit: string, textOf = repeated, length = LENGTH) {
  const times = Math.ceil(length / unit.length)
  const [once = 0, twice = 0] = [times, times * 2].map(
    times => countWork(() => use(textOf(unit, times))).steps,
  )
  const counted = `${what} of ${JSON.stringify(unit)}: ${once} steps, ${twice} for twice as much`
  expect(twice, counted).toBeLessThan(once * GROWTH + ENDS)
  expect(once, counted).toBeLessThan(MOST_A_CHAR * (length + unit.length))
}

const patterns = [...countWork(() => uses.map(([, use]) => use(everything))).patterns.values()]

test('every pattern of the redactor is tried', () => {
  expect(patterns.length).toBeGreaterThanOrEqual(22)
})

test.each(patterns.map(pattern => [String(pattern), pattern] as const))(
  'a text of what %s reads costs its length',
  (_, pattern) => {
    for (const unit of unitsOf([pattern], pick, each)) {
      expectLinear(['text', text => redactor.text(text)], unit)
      expectLinear(['text begun', text => redactor.text(text)], unit, begunWith)
    }
  },
)

test.each(uses)('%s: a text of what all of them read costs its length', (how, use) => {
  const all = unitsOf(patterns, pick, 1)
  const chosen = Array.from({ length: 40 * each }, () => all[pick(all.length)] ?? '')
  const keys = ['x: -----BEGIN PRIVATE KEY-----\n', '-----BEGIN PRIVATE KEY-----\n\nab: c\n', '-----BEGIN ']
  for (const unit of [VALUE.slice(0, -1), VALUE, 'ab', 'abc', ...keys, ...chosen])
    expectLinear([how, use], unit)
})

test.each([
  'ab: -----BEGIN PRIVATE KEY-----\n',
  '[redacted:A]\nAKIAABCDEFGHIJKLMNOP\n',
  `${VALUE} AKIAABCDEFGHIJKLMNOP\n`,
])('what is found is compared with what else is found by halving, and read once: %j', unit =>
  expectLinear(['text', text => redactor.text(text)], unit, repeated, LONG),
)

test('spans are compared by halving, not each with each', () => {
  let read = 0
  const counted = (start: number, end: number) => ({
    get start() {
      read++
      return start
    },
    end,
  })
  const readOf = (count: number) => {
    read = 0
    const [these, those] = [0, 1].map(offset =>
      Array.from({ length: count }, (_, i) => counted(i * 4 + offset, i * 4 + offset + 2)),
    )
    outside(these ?? [], those ?? [])
    apartFrom(these ?? [], those ?? [])
    merged([...(these ?? []), ...(those ?? [])])
    return read
  }
  expect(readOf(8_000)).toBeLessThan(readOf(4_000) * GROWTH)
})
