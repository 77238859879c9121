import fc from 'fast-check'
import { expect, it } from 'vitest'
import { json_channels } from '../core/json/channels.ts'
import { AgentProtocolError, createMessageSplitter, type Message } from './messages.ts'

it('splits any chunks into the messages that were sent, in order', async () => {
  await fc.assert(
    fc.asyncProperty(
      fc.array(fc.string({ unit: 'grapheme' })),
      fc.integer({ min: 1, max: 40 }),
      async (texts, size) => {
        const received: Message[] = []
        const splitter = createMessageSplitter('agent_message', message => void received.push(message))
        const bytes = Buffer.from(
          texts
            .map(text => `${JSON.stringify({ jsonrpc: '2.0', method: 'm', params: { text } })}\n`)
            .join(''),
        )
        for (let at = 0; at < bytes.length; at += size) await splitter.add(bytes.subarray(at, at + size))
        expect(received.map(({ params }) => (params as { text: string }).text)).toEqual(texts)
      },
    ),
  )
})

it('passes over a few lines that are not messages, and reports a program that prints many', async () => {
  const received: Message[] = []
  const splitter = createMessageSplitter('agent_message', message => void received.push(message))
  await splitter.add(Buffer.from('Welcome!\n[1]\nnull\n{"a":1}\n\n{"jsonrpc":"2.0","id":1}\n'))
  expect(received).toEqual([{ jsonrpc: '2.0', id: 1 }])
  await expect(splitter.add(Buffer.from('garbage \u0000\n'.repeat(200)))).rejects.toThrow(AgentProtocolError)
})

it('rejects a message that never ends, and more bytes than a turn can need', async () => {
  const endless = createMessageSplitter('agent_message', () => {})
  const chunk = Buffer.alloc(1024 * 1024, 'a')
  const feed = async () => {
    for (let i = 0; i < 20; i++) await endless.add(chunk)
  }
  await expect(feed()).rejects.toThrow(/more than 8388608 bytes/)
  const flood = createMessageSplitter('agent_message', () => {})
  const line = Buffer.from(
    `${JSON.stringify({ jsonrpc: '2.0', method: 'x', params: 'a'.repeat(4 * 1024 * 1024) })}\n`,
  )
  const floodAll = async () => {
    for (let i = 0; i < 200; i++) await flood.add(line)
  }
  await expect(floodAll()).rejects.toThrow(/It printed more than/)
})

it('rejects a message with more values than its channel permits before it is parsed, and accepts one with as many', async () => {
  const received: Message[] = []
  const splitter = createMessageSplitter('agent_message', message => void received.push(message))
  const { values, depth } = json_channels.agent_message
  const line = (count: number) =>
    Buffer.from(`{"jsonrpc":"2.0","method":"m","params":[${Array(count).fill('{}').join()}]}\n`)
  // In addition to the items: the message, its two texts and the list.
  await splitter.add(line(values - 4))
  expect(received).toHaveLength(1)
  await expect(splitter.add(line(values - 3))).rejects.toThrow(`A message has more than ${values} values.`)
  const deep = `{"jsonrpc":"2.0","params":${'['.repeat(100_000)}\n`
  const other = createMessageSplitter('agent_message', message => void received.push(message))
  await expect(other.add(Buffer.from(deep))).rejects.toThrow(`A message is nested deeper than ${depth}.`)
  expect(received).toHaveLength(1)
})
