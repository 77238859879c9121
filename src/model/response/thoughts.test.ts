import fc from 'fast-check'
import { expect, test } from 'vitest'
import { laterThoughts, ThoughtSplitter, unopenedThought } from './thoughts.ts'

/** The words of a text that arrives in parts of that size. */
function split(text: string, size: number) {
  const splitter = new ThoughtSplitter()
  const words = [
    ...(text.match(new RegExp(`[^]{1,${size}}`, 'g')) ?? []).flatMap(part => splitter.add(part)),
    ...splitter.end(),
  ]
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
  ['<think>a</think>\n<think>b</think>\nDone.', 'ab', 'Done.'],
  ['<THINK>\u0130</Think>Done.', '\u0130', 'Done.'],
  ['[THINK]a[/THINK]Done.', 'a', 'Done.'],
  ['\u25c1think\u25b7a\u25c1/think\u25b7Done.', 'a', 'Done.'],
  ['<seed:think>a</seed:think>Done.', 'a', 'Done.'],
  ['[think about it] first', '', '[think about it] first'],
  ['<mm:think>a</think>b</mm:think>Done.', 'a</think>b', 'Done.'],
  ['<think time="3">a</think>Done.', 'a', 'Done.'],
  ['<think of it> first', '', '<think of it> first'],
  ['<think <b>', '', '<think <b>'],
  ['<|START_THINKING|>a<|END_THINKING|><|START_RESPONSE|>Done.<|END_RESPONSE|>', 'a', 'Done.'],
  ['<|channel>thought\na<channel|>Done.', '\na', 'Done.'],
  ['<|channel|>analysis<|message|>a<|end|>', 'a', ''],
  [
    '<|channel|>analysis<|message|>a<|end|><|start|>assistant<|channel|>final<|message|>Done.<|return|>',
    'a',
    'Done.',
  ],
  ['<|start|>assistant<|channel|>final<|message|>Done.', '', 'Done.'],
  ['<think>a</think><answer>Done.</answer>', 'a', 'Done.'],
  ['<answer>Done.</answer>', '', '<answer>Done.</answer>'],
])('%j is the thought %j and the text %j, however it arrives', (given, reasoning, text) => {
  for (let size = 1; size <= given.length + 1; size++) expect(split(given, size)).toEqual({ reasoning, text })
})

test('no character outside of the tags is lost, and the parts do not matter', () => {
  const pieces = fc.constantFrom(
    '<think>',
    '</think>',
    '<thinking>',
    '</thinking>',
    '<',
    'a',
    ' ',
    '\n',
    '</th',
  )
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
  expect(unopenedThought('First.</mm:think>Done.')).toEqual({ reasoning: 'First.', text: 'Done.' })
  expect(unopenedThought('Write <think id="1">x</think> there.')).toBeNull()
  expect(unopenedThought('A message ends with <|end|> there.')).toBeNull()
  expect(unopenedThought('Done.')).toBeNull()
  expect(unopenedThought("Fixed:\n```js\na.split('x </think>')\n```\nDone.")).toBeNull()
  expect(unopenedThought('The filter drops "</think>" at last.')).toBeNull()
  expect(unopenedThought('Say "Hi"</think>Hi')).toEqual({ reasoning: 'Say "Hi"', text: 'Hi' })
  expect(unopenedThought('```js\na\n```\nFirst.</think>Done.')?.text).toBe('Done.')
})

test('a thought that begins a later line is none of the answer, and a tag in code or in a line is', () => {
  expect(laterThoughts('Let me see.\n<think>\nHm.\n</think>\n\nDone.')).toEqual({
    reasoning: 'Hm.',
    text: 'Let me see.\nDone.',
  })
  expect(laterThoughts('a\n<think>1</think>b\n  <think>2</think>c')).toEqual({
    reasoning: '1\n2',
    text: 'a\nb\nc',
  })
  expect(laterThoughts('```x``` is it.\n<think>1</think>b')?.reasoning).toBe('1')
  expect(laterThoughts('a\n<mm:think n="1">1</mm:think>b')).toEqual({ reasoning: '1', text: 'a\nb' })
  for (const text of [
    '```\n<think>x</think>\n```',
    'See:\n````md\n```xml\n<think>x</think>\n```\n````\nDone.',
    '```\n```js\n<think>x</think>\n```\nDone.',
    '~~~\n```\n<think>x</think>\n~~~',
    'See:\n\n    <think>x</think>\n\nDone.',
    'Use <think>x</think>.',
    'a\n<think>never closed',
    '`<think>`x</think>',
    'Done.',
  ])
    expect(laterThoughts(text)).toBeNull()
})
