import { gzipSync } from 'node:zlib'
import { pktLine } from '../../src/git/process/pkt-line.ts'
import type { Random } from '../chaos/random.ts'
import { type Attempt, requestBytes } from './send-bytes.ts'

const methods = [
  'GET',
  'HEAD',
  'POST',
  'PUT',
  'PATCH',
  'DELETE',
  'OPTIONS',
  'TRACE',
  'PROPFIND',
  'QUERY',
  'LOCK',
  'M-SEARCH',
]

/** Any method at any path, with or without a token and a body. */
export function methodAttempt(random: Random, paths: readonly string[], tokens: readonly string[]): Attempt {
  const line = `${random.of(methods)} ${random.of(paths)}`
  const headers = {
    authorization: random.chance(0.7) ? `Bearer ${random.of(tokens)}` : undefined,
    'content-type': random.chance(0.5) ? 'application/json' : undefined,
  }
  const body = random.chance(0.5) ? random.of(['{}', '[]', 'null', '', '{"a":']) : undefined
  return {
    name: `method: ${line.replace(/\d+/g, 'N')}`,
    parts: requestBytes(line, headers, body),
    drops: 'after_head',
  }
}

const id = 'a'.repeat(40)
/** Lines of the protocol of git, and what only resembles them. */
const git_lines = [
  ...[
    'command=ls-refs\n',
    'command=fetch',
    'command=object-info',
    'object-format=sha1',
    'object-format=sha256',
    `want ${id}\n`,
    `have ${id}\n`,
  ],
  ...[
    `want ${id.toUpperCase()}`,
    'want-ref refs/heads/main',
    `shallow ${id}`,
    'deepen 999999999',
    'deepen-not x',
    'filter blob:none',
    'done\n',
  ],
  ...[
    'ref-prefix refs/',
    'peel',
    'symrefs',
    `${id} ${id} refs/heads/x\0 report-status`,
    `${'0'.repeat(40)} ${id} refs/heads/../x\0`,
    '\0',
    '\xff',
  ],
]

/** A request of git, or something like it. `at`: the path of an existing repository. */
export function gitAttempt(random: Random, at: string, tokens: readonly string[]): Attempt {
  const service = random.of(['git-upload-pack', 'git-receive-pack'])
  const authorization = `Basic ${Buffer.from(`git:${random.of(tokens)}`).toString('base64')}`
  const protocol = random.of(['', 'version=1', 'version=2', 'version=2:version=0', 'x'])
  if (random.chance(0.3)) {
    const query = random.of([
      `service=${service}`,
      '',
      'service=--help',
      `service=${service}&service=x`,
      'service=%00',
    ])
    return {
      name: 'git: info/refs',
      parts: requestBytes(`GET ${at}/info/refs?${query}`, { authorization, 'git-protocol': protocol }),
    }
  }
  const packets = Array.from({ length: Math.ceil(random.between(0, 8)) }, () =>
    random.chance(0.3)
      ? random.of(['0000', '0001', '0002', '0003', 'zzzz', 'ffff', '0005', 'PACK\0\0\0\x02\xff\xff\xff\xff'])
      : pktLine(random.of(git_lines)),
  )
  const body = Buffer.concat(packets.map(packet => Buffer.from(packet as string)))
  const zipped = random.chance(0.2)
  const headers = {
    authorization,
    'git-protocol': protocol,
    'content-type': `application/x-${service}-request`,
    'content-encoding': zipped ? 'gzip' : undefined,
  }
  const parts = requestBytes(`POST ${at}/${service}`, headers, zipped ? gzipSync(body) : body)
  return { name: `git: ${service}`, parts, ...(random.chance(0.2) && { drops: 'after_write' as const }) }
}

/** An event stream that is dropped when it has begun, or before. */
export function streamAttempt(random: Random, paths: readonly string[], tokens: readonly string[]): Attempt {
  const headers = {
    authorization: `Bearer ${random.of(tokens)}`,
    accept: 'text/event-stream',
    'last-event-id': random.of(['', '0', '-1', 'x', '9'.repeat(30)]),
  }
  const drops = random.chance(0.8) ? 'after_head' : 'after_write'
  return { name: 'stream', parts: requestBytes(`GET ${random.of(paths)}`, headers), drops }
}
