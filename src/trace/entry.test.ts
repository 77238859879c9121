import { expect, test } from 'vitest'
import { entry } from './entry.ts'

const written = (text: string) =>
  JSON.parse(
    entry({
      message_type: 'ACTION',
      thought: text,
      tool_input: { [text]: 1 },
      tool_output: { list: [text] },
      observation: text,
    }).json,
  )

test.each([
  ['half a pair', 'a\ud800b\udfff'],
  ['halves in the wrong order', '\udfff\ud800'],
  ['one half after another', '\ud83d\ud83d😀\ude00'],
  ['a half after backslashes', '\\\ud800 \\\\\udbff'],
])('what a tool printed is well-formed in every key and value: %s', (_, text) => {
  const whole = text.toWellFormed()
  expect(written(text)).toMatchObject({
    thought: whole,
    tool_input: { [whole]: 1 },
    tool_output: { list: [whole] },
    observation: whole,
  })
})

test('and well-formed text is not changed: NUL, pairs, and text that only resembles an escape', () => {
  for (const text of ['a\0b', '😀', '\\ud800', '\\\\udfff', '\ud7ff\ue000\uffff', 'C:\\users\\udd00'])
    expect(written(text)).toMatchObject({ thought: text, tool_input: { [text]: 1 }, observation: text })
})
