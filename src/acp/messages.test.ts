import fc from 'fast-check'
import { expect, it } from 'vitest'
import { AgentProtocolError, createMessageSplitter, type Message } from './messages.ts'

it('splits any chunks into the messages that were sent, in order', async () => {
  await fc.assert(
    fc.asyncProperty(fc.array(fc.string({ unit: 'grapheme' })), fc.integer({ min: 1, max: 40 }), async (texts, size) => {
      const received: Message[] = []
      const splitter = createMessageSplitter(message => void received.push(message))
      const bytes = Buffer.from(texts.map(text => `${JSON.stringify({ jsonrpc: '2.0', method: 'm', params: { text } })}\n`).join(''))
      for (let at = 0; at < bytes.length; at += size) await splitter.add(bytes.subarray(at, at + size))
      expect(received.map(({ params }) => (params as { text: string }).text)).toEqual(texts)
    }),
  )
})

it('passes over a few lines that are no messages, and reports a program that prints many', async () => {
  const received: Message[] = []
  const splitter = createMessageSplitter(message => void received.push(message))
  await splitter.add(Buffer.from('Welcome!\n[1]\nnull\n{"a":1}\n\n{"jsonrpc":"2.0","id":1}\n'))
  expect(received).toEqual([{ jsonrpc: '2.0', id: 1 }])
  await expect(splitter.add(Buffer.from('garbage \u0000\n'.repeat(200)))).rejects.toThrow(AgentProtocolError)
})

it('rejects a message that never ends, and more bytes than a turn can need', async () => {
  const endless = createMessageSplitter(() => {})
  const chunk = Buffer.alloc(1024 * 1024, 'a')
  const feed = async () => {
    for (let i = 0; i < 20; i++) await endless.add(chunk)
  }
  await expect(feed()).rejects.toThrow(/more than 8388608 bytes/)
  const flood = createMessageSplitter(() => {})
  const line = Buffer.from(`${JSON.stringify({ jsonrpc: '2.0', method: 'x', params: 'a'.repeat(4 * 1024 * 1024) })}\n`)
  const floodAll = async () => {
    for (let i = 0; i < 200; i++) await flood.add(line)
  }
  await expect(floodAll()).rejects.toThrow(/It printed more than/)
})
