import { once } from 'node:events'
import { createServer, type Socket } from 'node:net'
import { connect } from 'node:tls'
import fc from 'fast-check'
import { beforeAll, expect, test } from 'vitest'
import { readHello } from './client-hello.ts'

/** What a real client sends first. */
async function greeting(options: { servername?: string; maxVersion?: 'TLSv1.2' }): Promise<Buffer> {
  const server = createServer().listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const client = connect({
    ...options,
    host: '127.0.0.1',
    port: typeof address === 'object' && address ? address.port : 0,
  })
  client.on('error', () => {})
  const [socket] = (await once(server, 'connection')) as [Socket]
  const [bytes] = (await once(socket, 'data')) as [Buffer]
  client.destroy()
  socket.destroy()
  server.close()
  return bytes
}

let named: Buffer
beforeAll(async () => {
  named = await greeting({ servername: 'a.example' })
})

/** The same message in records of `size` bytes. */
function inRecords(bytes: Buffer, size: number): Buffer {
  const message = bytes.subarray(5)
  const parts: Buffer[] = []
  for (let at = 0; at < message.length; at += size) {
    const part = message.subarray(at, at + size)
    parts.push(Buffer.from([22, 3, 1, part.length >> 8, part.length & 255]), part)
  }
  return Buffer.concat(parts)
}

/** With another extension at its end. */
function extended(bytes: Buffer, type: number, content: Buffer): Buffer {
  const out = Buffer.concat([
    bytes,
    Buffer.from([type >> 8, type & 255, content.length >> 8, content.length & 255]),
    content,
  ])
  const more = content.length + 4
  out.writeUInt16BE(out.readUInt16BE(3) + more, 3)
  out.writeUIntBE(out.readUIntBE(6, 3) + more, 6, 3)
  let at = 9 + 34
  at += 1 + out.readUInt8(at)
  at += 2 + out.readUInt16BE(at)
  at += 1 + out.readUInt8(at)
  out.writeUInt16BE(out.readUInt16BE(at) + more, at)
  return out
}

test('the name in the greeting of a real client is read, of TLS 1.2 and 1.3', async () => {
  const found = { kind: 'hello', server_name: 'a.example', hidden: false }
  expect(readHello(named)).toEqual(found)
  expect(readHello(await greeting({ servername: 'A.example', maxVersion: 'TLSv1.2' }))).toEqual(found)
  expect(readHello(await greeting({}))).toEqual({ ...found, server_name: null })
})

test('it is read from any sequence of records, and not before it is complete', () => {
  for (const size of [300, 700, 10_000])
    expect(readHello(inRecords(named, size))).toMatchObject({ kind: 'hello', server_name: 'a.example' })
  for (let length = 0; length < named.length; length++)
    expect(readHello(named.subarray(0, length))).toEqual({
      kind: 'incomplete',
      needs: length < 5 ? 5 : named.length,
    })
})

test('an encrypted name is detected, and two names are not a ClientHello', () => {
  expect(readHello(extended(named, 0xfe0d, Buffer.alloc(8)))).toMatchObject({ kind: 'hello', hidden: true })
  const second = Buffer.from('\0\x0e\0\0\x0bevil.ex.com')
  second.writeUInt16BE(second.length - 2, 0)
  second.writeUInt16BE(second.length - 5, 3)
  expect(readHello(extended(named, 0, second)).kind).toBe('other')
})

test.each([
  ['HTTP', Buffer.from('GET / HTTP/1.1\r\n\r\n')],
  ['ssh', Buffer.from('SSH-2.0-x\r\n')],
  ['an alert', Buffer.from([21, 3, 1, 0, 2, 2, 49])],
  ['another message', Buffer.from([22, 3, 1, 0, 4, 2, 0, 0, 0])],
  ['a greeting in crumbs', Buffer.concat(Array.from({ length: 20 }, () => Buffer.from([22, 3, 1, 0, 1, 1])))],
  ['an empty record', Buffer.from([22, 3, 1, 0, 0])],
  ['too much', Buffer.concat([Buffer.from([22, 3, 1, 0x40, 0, 1, 0xff, 0xff, 0xff]), Buffer.alloc(70_000)])],
])('%s is none', (_, bytes) => {
  expect(readHello(bytes).kind).toBe('other')
})

test('no bytes make it throw, or name another host than the one that is in them', () => {
  fc.assert(
    fc.property(fc.nat(), fc.nat(255), fc.nat(), (at, value, cut) => {
      const bytes = Buffer.from(named)
      bytes[at % bytes.length] = value
      const hello = readHello(bytes.subarray(0, 5 + (cut % bytes.length)))
      if (hello.kind === 'hello' && hello.server_name !== null)
        expect(bytes.toString('latin1').toLowerCase()).toContain(hello.server_name)
    }),
    { seed: Number(process.env.TEST_SEED ?? 1), numRuns: 3_000 },
  )
})
