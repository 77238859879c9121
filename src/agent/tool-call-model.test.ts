import { expect, test } from 'vitest'
import type { ModelMessage, ModelRequest } from '../model/port.ts'
import { createToolCallModel } from './tool-call-model.ts'

const request = (messages: ModelMessage[]): ModelRequest => ({
  instructions: '',
  messages,
  tools: [],
  max_output_tokens: 1,
  timeouts: { first_byte_ms: 1, idle_ms: 1, total_ms: 1 },
})
const prompt: ModelMessage = { role: 'user', content: 'the prompt' }

test('the call is sent once: a conversation that has it, with or without its result, is only finished', async () => {
  const model = createToolCallModel('{"tool_name":"shell","arguments":{"command":"ls"}}')
  const first = await model.call(request([prompt]))
  expect(first.tool_calls).toMatchObject([{ name: 'shell', input: { command: 'ls' } }])
  const again = await model.call(
    request([prompt, ...first.messages, { role: 'user', content: 'The workspace was set up again.' }]),
  )
  expect([again.tool_calls, again.text]).toEqual([[], 'The call of shell has ended.'])
})

test('a prompt without a call fails the run', async () => {
  await expect(createToolCallModel('{"tool_name":').call(request([prompt]))).rejects.toMatchObject({
    code: 'script_failed',
  })
})
