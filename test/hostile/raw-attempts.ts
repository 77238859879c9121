import type { Random } from '../chaos/random.ts'
import type { Attempt } from './send-bytes.ts'

type Bytes = string | Buffer
/** `paths`: those of the service; `auth`: the field of a valid token, with its end of line. */
type Addresses = { paths: readonly string[]; auth: string }

/** Broken and hostile HTTP: each creates the bytes of one connection. */
const kinds: Record<
  string,
  (random: Random, line: string, to: Addresses) => Bytes[] | Omit<Attempt, 'name'>
> = {
  'a chunk size that is none': (random, _line, { auth }) => [
    post(auth, 'transfer-encoding: chunked'),
    `${random.of(sizes)}\r\nab\r\n0\r\n\r\n`,
  ],
  'chunks without end': (_random, _line, { auth }) => ({
    parts: [post(auth, 'transfer-encoding: chunked'), '1\r\na\r\n'.repeat(500)],
    drops: 'after_write',
  }),
  'an endless chunk extension': (_random, _line, { auth }) => [
    post(auth, 'transfer-encoding: chunked'),
    `1;${'e'.repeat(30_000)}\r\n`,
  ],
  'many headers': (random, line) => [
    `${line}${HOST}${'x: y\r\n'.repeat(Math.floor(random.between(10, 5_000)))}${CLOSE}\r\n`,
  ],
  'a long header': (random, line) => [
    `${line}${HOST}x: ${'y'.repeat(Math.floor(random.between(1, 60_000)))}\r\n${CLOSE}\r\n`,
  ],
  'headers without end': (_random, line) => ({
    parts: [`${line}${HOST}${'x: y\r\n'.repeat(100)}`],
    drops: 'after_write',
  }),
  'a body without end': (_random, _line, { auth }) => ({
    parts: [post(auth, 'content-length: 5000000'), 'x'.repeat(2_000)],
    drops: 'after_write',
  }),
  'both lengths': (_random, _line, { auth }) => [
    post(auth, 'content-length: 6\r\ntransfer-encoding: chunked'),
    `0\r\n\r\nGET /healthz HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  ],
  'two lengths': (random, _line, { auth }) => [
    post(auth, `content-length: 2\r\ncontent-length: ${random.of(['3', '2', '-2', '0x2', '2, 3'])}`),
    '{}x',
  ],
  'a hidden coding': (random, _line, { auth }) => [
    post(auth, `content-length: 4\r\n${random.of(codings)}`),
    `2\r\n{}\r\n0\r\n\r\nGET /healthz HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  ],
  'a request in the body of a GET': (_random, line) => {
    const inner = `DELETE /session HTTP/1.1\r\n${HOST}\r\n`
    return [`${line}${HOST}content-length: ${inner.length}\r\n${CLOSE}\r\n${inner}`]
  },
  'many at once on a connection': (random, line, { auth }) => {
    const one = `${line}${HOST}${random.chance(0.5) ? auth : ''}\r\n`
    return [one.repeat(random.chance(0.02) ? 1_000 : 20), `GET /healthz HTTP/1.1\r\n${HOST}${CLOSE}\r\n`]
  },
  'the preface of HTTP/2': () => [
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
    Buffer.from('000000040000000000', 'hex'),
  ],
  'an upgrade': (random, line) => [
    `${line}${HOST}connection: upgrade\r\nupgrade: ${random.of(['h2c', 'websocket', 'TLS/1.0'])}\r\n${CLOSE}\r\n`,
  ],
  CONNECT: random => [
    `CONNECT ${random.of(['127.0.0.1:5432', 'localhost', '*', '[::1]:80'])} HTTP/1.1\r\n${HOST}\r\n`,
  ],
  'an absolute address': random => [
    `GET ${random.of(['http://127.0.0.1:1/', 'http://localhost/healthz', 'file:///etc/passwd', 'http://[', '//x/y'])} HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  ],
  'strange bytes in the path': random => [
    `GET /v1/`,
    bytesOf(random, 40),
    ` HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  ],
  'strange bytes in a header': (random, line) => [
    `${line}${HOST}x: `,
    bytesOf(random, 40),
    `\r\n${CLOSE}\r\n`,
  ],
  'strange bytes as a token': (random, line) => [
    `${line}${HOST}authorization: Bearer `,
    bytesOf(random, 60),
    `\r\n${CLOSE}\r\n`,
  ],
  'only strange bytes': random => [bytesOf(random, 2_000), '\r\n\r\n'],
  'a long path': random => [
    `GET /${random.of(['a', 'a/', '%41', '../', '%2e%2e/', '/'])}`.padEnd(
      Math.floor(random.between(10, 20_000)),
      'a/',
    ),
    ` HTTP/1.1\r\n${HOST}${CLOSE}\r\n`,
  ],
  'a long query': (random, _line, { paths, auth }) => [
    `GET ${random.of(paths)}?${random
      .of(['a', 'a=&', 'limit=1&', 'a[b]=1&', '%', '%00&', '__proto__=1&'])
      .repeat(Math.floor(random.between(1, 2_000)))} HTTP/1.1\r\n${HOST}${auth}${CLOSE}\r\n`,
  ],
  'two tokens': (random, line, { auth }) => [
    `${line}${HOST}${auth}authorization: ${random.of(credentials)}\r\n${CLOSE}\r\n`,
  ],
  'another way to authenticate': (random, line) => [
    `${line}${HOST}authorization: ${random.of(credentials)}\r\n${CLOSE}\r\n`,
  ],
  'repeated and conflicting fields': (random, line, { auth }) => {
    const fields = Array.from({ length: 12 }, () => `${random.of(repeated)}\r\n`)
    return [`${line}${HOST}${auth}${fields.join('')}${CLOSE}\r\n`]
  },
  'a host of somebody else': (random, line) => [
    `${line}host: ${random.of(['evil.example', '', 'a b', '[', '127.0.0.1:99999', 'localhost\r\nhost: x'])}\r\n${CLOSE}\r\n`,
  ],
  'a client that leaves before the response': (_random, line, { auth }) => ({
    parts: [`${line}${HOST}${auth}\r\n`],
    drops: 'after_write',
  }),
  'a client that leaves within the response': (_random, line, { auth }) => ({
    parts: [`${line}${HOST}${auth}\r\n`],
    drops: 'after_head',
  }),
}

const HOST = 'host: localhost\r\n'
const CLOSE = 'connection: close\r\n'
const sizes = ['xyz', '-1', '0x2', 'fffffffffffffffff', '2 ', ' 2', '', '2;', '+2', '\0']
const codings = [
  'transfer-encoding: xchunked',
  'transfer-encoding : chunked',
  'transfer-encoding: chunked, identity',
  ' transfer-encoding: chunked',
  'transfer-encoding:\tchunked',
]
const credentials = [
  'Bearer',
  'Bearer ',
  'Bearer arun_p_x',
  'Basic !!!',
  'Basic OjpYOg==',
  'Digest a=b',
  'Bearer a b',
  `Bearer ${'a'.repeat(9_000)}`,
  'bearer null',
]
const repeated = [
  ...[
    'x-forwarded-for: 1.1.1.1, ,',
    'forwarded: for="',
    'origin: null',
    'origin: http://evil.example',
    'cookie: a=b; a=c; =; ;',
  ],
  ...[
    'accept: */*;q=9, text/html;q=',
    'accept-encoding: gzip;q=x, br, identity;q=0',
    'last-event-id: 99999999999999999999',
  ],
  ...[
    'range: bytes=0-0,-1,5-2',
    'if-none-match: *',
    'idempotency-key: a',
    'idempotency-key: b',
    'content-type: text/html; charset=\xff',
  ],
  ...[
    'traceparent: 00-0-0-0',
    'traceparent: 00-00000000000000000000000000000000-0000000000000000-00',
    'expect: 100-continue',
  ],
  ...[
    'x-http-method-override: DELETE',
    'git-protocol: version=99',
    'mcp-protocol-version: \x01',
    'mcp-session-id: ../..',
    'te: trailers',
  ],
]

const post = (auth: string, fields: string) =>
  `POST /v1/organizations/1/agent/run HTTP/1.1\r\n${HOST}${auth}content-type: application/json\r\n${fields}\r\n${CLOSE}\r\n`
const bytesOf = (random: Random, most: number) =>
  Buffer.from(
    Array.from({ length: Math.ceil(random.between(1, most)) }, () => Math.floor(random.between(0, 256))),
  )

/** A connection with broken or hostile HTTP. */
export function rawAttempt(random: Random, to: Addresses): Attempt {
  const name = random.of(Object.keys(kinds))
  const line = `${random.of(['GET', 'GET', 'GET', 'HEAD', 'OPTIONS'])} ${random.of(to.paths)} HTTP/1.1\r\n`
  const made = kinds[name]?.(random, line, to) ?? []
  return { name: `raw: ${name}`, ...(Array.isArray(made) ? { parts: made } : made) }
}
