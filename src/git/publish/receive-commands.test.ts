import fc from 'fast-check'
import { expect, test } from 'vitest'
import { FLUSH, pktLine } from '../process/pkt-line.ts'
import { NO_COMMIT, readCommands, refusedRef } from './receive-commands.ts'

const [a, b] = ['a'.repeat(40), 'b'.repeat(40)]
const request = (...lines: string[]) => Buffer.concat([...lines.map(line => pktLine(line)), FLUSH])

test('parses refs, capabilities and the position of the pack', () => {
  const bytes = request(
    `shallow ${a}`,
    `${a} ${b} refs/heads/main\0 report-status side-band-64k`,
    `${NO_COMMIT} ${a} refs/tags/v1\n`,
  )
  expect(readCommands(Buffer.concat([bytes, Buffer.from('PACK')]))).toEqual({
    commands: [
      { from: a, to: b, ref: 'refs/heads/main' },
      { from: NO_COMMIT, to: a, ref: 'refs/tags/v1' },
    ],
    capabilities: new Set(['report-status', 'side-band-64k']),
    rest: bytes.length,
  })
  expect(readCommands(bytes.subarray(0, -1))).toBe('more')
  expect(readCommands(FLUSH)).toMatchObject({ commands: [], rest: 4 })
})

test.each([
  ['something else', Buffer.from('PACK and so on')],
  ['a certificate', request('push-cert\0atomic')],
  ['a short name of a commit', request(`${a.slice(1)} ${b} refs/heads/main`)],
  ['a delimiter', Buffer.from('0001')],
  ['too many', request(...Array.from({ length: 501 }, (_item, n) => `${a} ${b} refs/heads/${n}`))],
])('%s is not a push', (_what, bytes) => {
  expect(readCommands(bytes)).toHaveProperty('problem')
})

test.each([
  ['refs/heads/main', null],
  ['refs/tags/v1.0', null],
  ['refs/agentrun/1/1', 'only branches'],
  ['refs/pull/1/head', 'only branches'],
  ['HEAD', 'only branches'],
  ['refs/heads/', 'only branches'],
  ['refs/heads/../../config', 'not a name'],
  ['refs/heads/a b', 'not a name'],
  ['refs/heads/--upload-pack=x', 'not a name'],
  ['refs/heads/x\nrefs/heads/y', 'not a name'],
  ['refs/heads/x:refs/heads/y', 'not a name'],
])('%s: %s', (ref, why) => {
  const command = { from: a, to: b, ref }
  const refused = refusedRef(command, [command])
  if (why === null) expect(refused).toBeNull()
  else expect(refused).toContain(why)
})

test('a ref that is named twice is refused both times', () => {
  const twice = [a, b].map(to => ({ from: NO_COMMIT, to, ref: 'refs/heads/x' }))
  expect(twice.map(command => refusedRef(command, twice))).toEqual(['named twice', 'named twice'])
})

test('any input is read the same, in one piece or byte by byte', () => {
  const line = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 120 }),
    fc.constantFrom(
      `${a} ${b} refs/heads/x`,
      `${NO_COMMIT} ${a} refs/tags/v\0 report-status`,
      `shallow ${a}`,
    ),
  )
  fc.assert(
    fc.property(fc.array(line, { maxLength: 6 }), fc.uint8Array({ maxLength: 20 }), (lines, pack) => {
      const bytes = Buffer.concat([request(...lines), pack])
      const whole = readCommands(bytes)
      let first: ReturnType<typeof readCommands> = 'more'
      for (let length = 0; length <= bytes.length && first === 'more'; length++)
        first = readCommands(bytes.subarray(0, length))
      expect(first).toEqual(whole)
    }),
  )
})
