import { expect, test } from 'vitest'
import { promptOf, requestsOf, respond, stepOf } from '../../bench/compare/script.ts'

const task = { id: 7, steps: 2, large: false }
const shell = {
  type: 'function',
  function: { name: 'bash', parameters: { required: ['command', 'description'] } },
}
const request = (results: number, tools: unknown[] = [shell]) => ({
  body: {
    messages: [
      { role: 'user', content: [{ type: 'text', text: promptOf(task) }] },
      ...Array.from({ length: results }, () => ({ role: 'tool', content: '' })),
    ],
    tools,
  },
})

test('a request shows its run and its step', () => {
  expect(stepOf(request(1).body)).toEqual({ task, step: 1, tool: 'bash', described: true })
})

test('a request without a shell is none of the steps', () => {
  expect(stepOf(request(0, []).body)).toBeNull()
  expect(respond(request(0, []))).toEqual({ text: 'Small steps' })
})

test('the model ends a run after its steps, and no command repeats', () => {
  const [first, second] = [respond(request(0)), respond(request(1))]
  expect(first).toMatchObject({
    tool_calls: [{ name: 'bash', arguments: { description: expect.any(String) } }],
  })
  expect(second).not.toEqual(first)
  expect(respond(request(2))).toEqual({ text: 'Done.' })
})

test('a run that has not made all of its steps is an error', () => {
  const all = [request(0), request(0, []), request(1), request(2)]
  expect(requestsOf(task, all)).toEqual([all[0], all[2], all[3]])
  expect(() => requestsOf(task, all.slice(0, 3))).toThrow('run 7 made the steps 0, 1 instead of 0 to 2')
  expect(() => requestsOf(task, [...all, request(2)])).toThrow('run 7')
})
