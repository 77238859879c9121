import { expect, test } from 'vitest'
import { COMPATIBLE, failureOf, GOOGLE, OPENAI, request } from '../model/protocols.ts'
import { forbidOutput } from '../model/silence.ts'

forbidOutput()

test('events of OpenAI that repeat the tools and the whole output of a large request are read', async () => {
  const many = Array.from({ length: 20_000 }, (_, i) => ({ name: `tool_${i}` }))
  const repeated = { tools: many, instructions: many, input: [], output: [] }
  const events = OPENAI.events({ text: 'Hello' }).map(event =>
    event.replace(/^data: (\{.*"response":\{.*)$/m, (_, data: string) => {
      const parsed = JSON.parse(data)
      return `data: ${JSON.stringify({ ...parsed, response: { ...parsed.response, ...repeated } })}`
    }),
  )
  expect(events.join('').length).toBeGreaterThan(1_000_000)
  await using fake = await OPENAI.connect(() => ({ raw: events }))
  const { text, finish_reason, usage } = await fake.model.call(request())
  expect({ text, finish_reason, counted: usage.raw !== null }).toEqual({
    text: 'Hello',
    finish_reason: 'stop',
    counted: true,
  })
})

test('an event with a million calls is malformed before a schema sees it, with its bound as the reason', async () => {
  const calls = `[${Array(1_000_000).fill('{}').join()}]`
  await using fake = await COMPATIBLE.connect(() => ({
    raw: [`data: {"id":"1","choices":[{"index":0,"delta":{"tool_calls":${calls}}}]}\n\n`],
  }))
  const { code, retryable, message } = await failureOf(fake.model.call(request()))
  expect({ code, retryable, message }).toEqual({
    code: 'malformed',
    retryable: true,
    message: expect.stringMatching(/^An event of the model has more than \d+ (values|bytes)\.$/),
  })
  expect(fake.server.requests).toHaveLength(1)
})

test('a call with structured arguments of a thousand values is read', async () => {
  const list = Array.from({ length: 1_000 }, (_, i) => i)
  await using fake = await GOOGLE.connect(() => ({ tool_calls: [{ name: 'shell', arguments: { list } }] }))
  const { tool_calls } = await fake.model.call(request())
  expect(tool_calls).toMatchObject([{ name: 'shell', input: { list } }])
})
