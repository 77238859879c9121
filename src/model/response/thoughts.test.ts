import fc from 'fast-check'
import { expect, test } from 'vitest'
import { ThoughtSplitter, unopenedThought } from './thoughts.ts'

/** The words of a text that arrives in parts of that size. */
function split(text: string, size: number) {
  const splitter = new ThoughtSplitter()
  const words = [...(text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []).flatMap(part => splitter.add(part)), ...splitter.end()]
  const of = (kind: string) => words.map(one => (one.kind === kind ? one.text : '')).join('')
  return { reasoning: of('reasoning'), text: of('text') }
}

test.each([
  ['<think>First.\n</think>\n\nDone.', 'First.\n', 'Done.'],
  ['\n <think>\nFirst.</think>Done.', '\nFirst.', 'Done.'],
  ['<thinking>a < b </think> c</thinking>\nDone.', 'a < b </think> c', 'Done.'],
  ['<think></think>Done.', '', 'Done.'],
  ['<think>never closed </thin', 'never closed </thin', ''],
  ['<think', '', '<think'],
  ['<thinker> is a word', '', '<thinker> is a word'],
  ['Use <think>tags</think>.', '', 'Use <think>tags</think>.'],
  ['  indented', '', '  indented'],
  ['', '', ''],
])('%j is the thought %j and the text %j, however it arrives', (given, reasoning, text) => {
  for (let size = 1; size <= given.length + 1; size++) expect(split(given, size)).toEqual({ reasoning, text })
})

test('no character outside of the tags is lost, and the parts do not matter', () => {
  const pieces = fc.constantFrom('<think>', '</think>', '<thinking>', '</thinking>', '<', 'a', ' ', '\n', '</th')
  fc.assert(
    fc.property(fc.array(pieces, { maxLength: 20 }), fc.integer({ min: 1, max: 9 }), (parts, size) => {
      const text = parts.join('')
      const whole = split(text, 1_000)
      expect(split(text, size)).toEqual(whole)
      const letters = (value: string) => value.split('a').length
      expect(letters(whole.reasoning) + letters(whole.text)).toBe(letters(text) + 1)
    }),
  )
})

test('a thought without its opening tag ends at the closing one, which code may mention', () => {
  expect(unopenedThought('First.\n</think>\n\nDone.')).toEqual({ reasoning: 'First.', text: 'Done.' })
  expect(unopenedThought('</think>Done.')).toEqual({ reasoning: '', text: 'Done.' })
  expect(unopenedThought('The tag `</think>` ends it.')).toBeNull()
  expect(unopenedThought('Write <think>x</think> there.')).toBeNull()
  expect(unopenedThought('Done.')).toBeNull()
})
