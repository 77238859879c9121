import { expect, test } from 'vitest'
import type { ModelMessage } from '../../../src/model/port.ts'
import { createScriptedModel } from '../../../src/model/scripted.ts'

const model = createScriptedModel()
const timeouts = { first_byte_ms: 1_000, idle_ms: 1_000, total_ms: 1_000 }
const interrupted = {
  status: 'interrupted',
  error: 'Interrupted: it may or may not have completed. Check before you repeat it.',
}
const file = (content: string) => ({ status: 'ok', content, bytes: Buffer.byteLength(content) })

/**
 * Plays `steps`: the calls get `results` one after the other, then successes. Returns the calls and the final
 * text.
 */
async function play(steps: string, results: Record<string, unknown>[]) {
  const text = `Do it.\n\`\`\`playbook\n${steps}\n\`\`\`\n`
  const messages: ModelMessage[] = [
    { role: 'user', content: text, providerOptions: { agentrun: { prompt: true } } },
  ]
  const called: string[] = []
  for (;;) {
    const response = await model.call({
      instructions: '',
      messages,
      tools: [],
      max_output_tokens: 1_000,
      timeouts,
    })
    messages.push(...response.messages)
    const [call] = response.tool_calls
    if (!call) return { called, text: response.text }
    const value = results[called.length] ?? { status: 'ok', exit_code: 0 }
    called.push(call.name)
    const output = { type: 'json' as const, value: JSON.parse(JSON.stringify(value)) }
    messages.push({
      role: 'tool',
      content: [{ type: 'tool-result', toolCallId: call.id, toolName: call.name, output }],
    })
  }
}

test('an interrupted write is repeated until it succeeds', async () => {
  const steps = '- write: {path: a, content: x}\n- run: ls\n- answer: done'
  expect(await play(steps, [interrupted, interrupted])).toEqual({
    called: ['write', 'write', 'write', 'shell'],
    text: 'done',
  })
})

test.each([
  ['was made', 'one two', ['edit', 'read', 'shell']],
  ['was not made', 'one old', ['edit', 'read', 'edit', 'shell']],
])('the state of an interrupted edit is checked: when it %s', async (_what, content, called) => {
  const steps = '- edit: {path: a, old: old, new: two}\n- run: ls\n- answer: done'
  expect(await play(steps, [interrupted, file(content)])).toEqual({ called, text: 'done' })
})

test.each([
  ['is there', 'a line and more', ['edit', 'read']],
  ['is not there', 'a line', ['edit', 'read', 'edit']],
])('an edit that appends is repeated when the appended text %s', async (_what, content, called) => {
  const steps = '- edit: {path: a, old: a line, new: a line and more}\n- answer: done'
  expect(await play(steps, [interrupted, file(content)])).toEqual({ called, text: 'done' })
})

test('an interrupted check is repeated, and the result of the edit is checked as usual', async () => {
  const steps = '- edit: {path: a, old: old, new: two}\n- run: ls\n- answer: done'
  const results = [interrupted, interrupted, file('two'), { status: 'error', exit_code: 3 }]
  await expect(play(steps, results)).rejects.toThrow(/run "ls" exited 3, expected 0/)
})

test.each([
  ['neither text', file('none of them')],
  ['only part of its content', { status: 'ok', content: 'old', bytes: 9_000_000 }],
  ['no content', { status: 'error', error: 'a is not there' }],
])('an edit whose file has %s then is not guessed at', async (_what, result) => {
  const steps = '- edit: {path: a, old: old, new: two}\n- answer: done'
  await expect(play(steps, [interrupted, result])).rejects.toThrow(
    /step 1 \(line 3\): edit "a" was interrupted/,
  )
})

test('an interrupted command is never run again, and the failure names the fix', async () => {
  const steps = '- run: deploy\n- answer: done'
  await expect(play(steps, [interrupted])).rejects.toThrow(
    /run "deploy" was interrupted, and it is unknown .* resume with a playbook/,
  )
})

test('a command that did not start is run', async () => {
  const not_run = { status: 'interrupted', error: 'Not run: the turn was interrupted before.' }
  expect(await play('- run: deploy\n- answer: done', [not_run])).toEqual({
    called: ['shell', 'shell'],
    text: 'done',
  })
})
