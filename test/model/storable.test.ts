import { describe, expect, test } from 'vitest'
import { createScriptedModel } from '../../src/model/scripted.ts'
import { chatChunk } from './fake-openai.ts'
import { sse } from './fake-server.ts'
import { COMPATIBLE, failureOf, GOOGLE, goOn, PROTOCOLS, prompt, request } from './protocols.ts'

const BAD = 'a\0b\ud800c'
const GOOD = 'a\ufffdb\ufffdc'

describe.each(PROTOCOLS)('$name returns text that PostgreSQL cannot store', protocol => {
  const response = {
    text: `text ${BAD} 🙂`,
    reasoning: `reasoning ${BAD} 🙂`,
    tool_calls: [
      { id: `id ${BAD}`, name: `name ${BAD}`, arguments: { path: BAD } },
      { id: `id ${BAD}`, name: 'read', arguments: { path: 'x' } },
    ],
    split: 1,
  }

  test('text, reasoning, names and ids are storable, arguments stay, results find their calls', async () => {
    await using fake = await protocol.connect((_seen, n) => (n === 0 ? response : { text: 'done' }))
    const messages = [prompt('go')]
    const first = await fake.model.call(request({ messages }))
    expect(first).toMatchObject({ text: `text ${GOOD} 🙂`, reasoning: `reasoning ${GOOD} 🙂` })
    expect(first.tool_calls.map(call => [call.name, call.input])).toEqual([
      [`name ${GOOD}`, { path: BAD }],
      ['read', { path: 'x' }],
    ])
    const ids = first.tool_calls.map(call => call.id)
    expect(new Set(ids).size).toBe(2)
    expect(ids.join('')).not.toMatch(/[\0\ud800]/u)
    if (protocol !== GOOGLE) expect(ids[0]).toBe(`id ${GOOD}`)
    const content = first.messages.flatMap(message =>
      message.role === 'assistant' && typeof message.content !== 'string' ? message.content : [],
    )
    const texts = content.flatMap(part =>
      part.type === 'text' || part.type === 'reasoning' ? [part.text] : [],
    )
    expect(texts.toSorted()).toEqual([first.reasoning, first.text])
    expect(
      content.flatMap(part => (part.type === 'tool-call' ? [[part.toolCallId, part.toolName]] : [])),
    ).toEqual(first.tool_calls.map(call => [call.id, call.name]))
    expect((await fake.model.call(request({ messages: goOn(messages, first) }))).text).toBe('done')
    for (const id of ids)
      expect(JSON.stringify(fake.server.requests[1]?.body).replaceAll('\\"', '"')).toContain(`of: ${id}`)
  })

  test('long names and ids are cut, and the ids are still unique', async () => {
    const call = { id: `i${'🙂'.repeat(5_000)}`, name: `n${'🙂'.repeat(5_000)}`, arguments: { path: 'x' } }
    await using fake = await protocol.connect(() => ({
      tool_calls: [call, { ...call, id: `${call.id}x` }, call],
    }))
    const { tool_calls: calls, messages } = await fake.model.call(request())
    expect(new Set(calls.map(({ id }) => id)).size).toBe(3)
    for (const text of calls.flatMap(({ id, name }) => [id, name])) {
      expect(text.length).toBeLessThanOrEqual(200)
      expect(text.isWellFormed()).toBe(true)
      expect(JSON.stringify(messages)).toContain(JSON.stringify(text))
    }
  })
})

test('a character split over two deltas is complete', async () => {
  const raw = [
    chatChunk({ content: '\ud83d' }),
    chatChunk({ content: '\ude42' }),
    chatChunk({}, 'stop'),
    sse('[DONE]'),
  ]
  await using fake = await COMPATIBLE.connect(() => ({ raw }))
  expect((await fake.model.call(request())).text).toBe('🙂')
})

test('the reason why arguments are invalid is storable', async () => {
  await using fake = await COMPATIBLE.connect(() => ({
    tool_calls: [{ name: 'shell', arguments: `{"a": ${BAD}` }],
  }))
  expect((await fake.model.call(request())).tool_calls[0]?.invalid).toContain(GOOD)
})

test('a playbook that spells NUL in YAML produces storable text', async () => {
  const play = (yaml: string) =>
    createScriptedModel().call(request({ messages: [prompt(`\`\`\`playbook\n${yaml}\n\`\`\``)] }))
  const text = '"a\\0b"'
  expect(await play(`- thought: ${text}\n- answer: ${text}`)).toMatchObject({
    text: 'a\ufffdb',
    reasoning: 'a\ufffdb',
    messages: [{ content: [{ text: 'a\ufffdb' }, { text: 'a\ufffdb' }] }],
  })
  expect((await failureOf(play(`- ${text}: x`))).message).not.toContain('\0')
})
