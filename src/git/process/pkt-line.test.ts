import fc from 'fast-check'
import { expect, test } from 'vitest'
import { readPackets } from '../../../test/git/packets.ts'
import { bandLines, FLUSH, pktLine, readPacket } from './pkt-line.ts'

const line = (content: string) => ({ kind: 'line', content: Buffer.from(content) })

test('written lines are read back, with everything between them', () => {
  const bytes = Buffer.concat([
    pktLine('want x\n'),
    Buffer.from('0001'),
    pktLine(''),
    FLUSH,
    Buffer.from('0002'),
  ])
  expect(readPackets(bytes)).toEqual([
    line('want x\n'),
    { kind: 'delimiter' },
    line(''),
    { kind: 'flush' },
    { kind: 'end' },
  ])
  expect(readPackets(Buffer.alloc(0))).toEqual([])
})

test('an incomplete line is waited for, and an invalid one is distinguished', () => {
  const whole = pktLine('abc')
  for (let length = 0; length < whole.length; length++)
    expect(readPacket(whole.subarray(0, length), 0)).toBe('more')
  expect(readPackets(whole.subarray(0, 5))).toBeNull()
  for (const bad of ['0003', 'GET ', '+0a1', '-001', 'ffff', '0x10'])
    expect(readPackets(Buffer.from(`${bad}${' '.repeat(70_000)}`))).toBeNull()
})

test('a long response goes over the side band in lines that git accepts', () => {
  const packets = readPackets(bandLines(1, Buffer.alloc(150_000, 'x'))) ?? []
  const contents = packets.flatMap(packet => (packet.kind === 'line' ? [packet.content] : []))
  expect(contents.map(content => content[0])).toEqual([1, 1, 1])
  expect(Buffer.concat(contents.map(content => content.subarray(1))).toString()).toBe('x'.repeat(150_000))
  expect(Math.max(...contents.map(content => content.length))).toBeLessThanOrEqual(65_516)
})

test('every input is a list of packets, invalid or incomplete', () => {
  const mixed = fc.array(
    fc.oneof(
      fc.uint8Array({ maxLength: 40 }),
      fc.constantFrom('0000', '0001', '0004', '0005a', 'ffff', '00').map(text => Buffer.from(text)),
    ),
  )
  fc.assert(
    fc.property(mixed, parts => {
      const bytes = Buffer.concat(parts)
      for (let at = 0; at < bytes.length; ) {
        const read = readPacket(bytes, at)
        if (read === null || read === 'more') return
        expect(read.next).toBeGreaterThan(at)
        expect(read.next).toBeLessThanOrEqual(bytes.length)
        at = read.next
      }
    }),
  )
})
