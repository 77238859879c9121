import { once } from 'node:events'
import { createServer, type Server } from 'node:http'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { startEgress, type TestEgress } from './start-egress.ts'

const secret = `canary-${process.pid}`
const received: string[] = []
let server: Server
let port: number
let egress: TestEgress
const P = 'http://127.0.0.1:3128'

beforeAll(async () => {
  server = createServer((request, response) => {
    received.push(`${request.method} ${request.url}`)
    response.end(secret)
  }).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  port = typeof address === 'object' && address ? address.port : 0
  // No connection to a public address is ever opened here: 192.0.2.0/24 is unassigned, and not public.
  egress = await startEgress({
    rules: [
      { host: 'localhost', port },
      { host: 'rebound.example', port },
      { host: 'mixed.example', port },
      { host: 'github.com', port: 443 },
    ],
    names: {
      localhost: ['127.0.0.1'],
      'rebound.example': ['127.0.0.1'],
      'mixed.example': ['93.184.216.34', '::ffff:127.0.0.1'],
    },
  })
})
afterAll(async () => {
  expect(received).toEqual([])
  await egress[Symbol.asyncDispose]()
  server.close()
})

/** Statuses and bodies; nothing of the host's service is among them. */
async function curl(command: string): Promise<string> {
  const text = await egress.run(
    `unset http_proxy https_proxy no_proxy NO_PROXY; curl -g -sS -m 8 -w ' [%{http_connect} %{http_code}]' ${command} 2>&1`,
  )
  expect(text).not.toContain(secret)
  return text
}
const raw = async (request: string, target = '3128, "127.0.0.1"') => {
  const text = await egress.run(
    `node -e 'const s = require("net").connect(${target}, () => s.write(Buffer.from("${Buffer.from(request, 'latin1').toString('base64')}", "base64"))); s.setTimeout(5000, () => s.destroy()); s.pipe(process.stdout)'`,
  )
  expect(text).not.toContain(secret)
  return text.split('\r\n')[0]
}
const last = () => egress.refusals.at(-1)

it('E81: an allowed name that is this machine is refused, by tunnel and in plain', async () => {
  expect(await curl(`-p -x ${P} http://localhost:${port}/`)).toContain('[403 ')
  expect(last()).toMatchObject({ host: 'localhost', port, method: 'CONNECT', reason: 'private_address' })
  expect(await curl(`-x ${P} http://localhost:${port}/`)).toContain('[000 403]')
  for (const name of ['rebound.example', 'mixed.example']) {
    expect(await curl(`-p -x ${P} http://${name}:${port}/`), name).toContain('[403 ')
    expect(last()).toMatchObject({ host: name, reason: 'private_address' })
  }
})

it.each([
  '127.0.0.1',
  '127.1',
  '0x7f000001',
  '2130706433',
  '0177.0.0.1',
  '[::1]',
  '[::ffff:127.0.0.1]',
  '[::ffff:7f00:1]',
  '[64:ff9b::7f00:1]',
  'LOCALHOST.',
  '0.0.0.0',
  '[::]',
  '127.0.0.1.',
])('E82: %s is refused', async host => {
  expect(await raw(`CONNECT ${host}:${port} HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(/^HTTP\/1.1 40[03] /)
  expect(await raw(`GET http://${host}:${port}/ HTTP/1.1\r\nHost: x\r\n\r\n`)).toMatch(/^HTTP\/1.1 40[03] /)
  expect(await curl(`-p -x ${P} http://${host}:${port}/`)).toMatch(/\[40[03] /)
})

it('E83: addresses of clouds, and what they are called, are refused', async () => {
  expect(await curl(`-x ${P} http://169.254.169.254/latest/meta-data/`)).toContain('[000 403]')
  expect(last()).toMatchObject({ host: '169.254.169.254', reason: 'private_address' })
  expect(await curl(`-x ${P} http://metadata.google.internal/`)).toContain('[000 403]')
  expect(await curl(`-x ${P} 'http://[fd00:ec2::254]/'`)).toContain('[000 403]')
})

it('E84: a name and a password before a host are not a host', async () => {
  expect(await curl(`-x ${P} http://localhost:${port}@169.254.169.254/`)).toContain('[000 403]')
  expect(
    await raw(`CONNECT github.com:443@127.0.0.1:${port} HTTP/1.1\r\nHost: github.com\r\n\r\n`),
  ).toContain(' 400 ')
  expect(
    await raw(`GET http://github.com:443@127.0.0.1:${port}/ HTTP/1.1\r\nHost: github.com\r\n\r\n`),
  ).toContain(' 400 ')
  expect(last()).toMatchObject({ reason: 'malformed' })
})

it('a refused target shows its host whole or not at all, and nothing of its path', async () => {
  const secret = 'x'.repeat(240)
  expect(await raw(`GET https://github.com/?token=${secret} HTTP/1.1\r\nHost: x\r\n\r\n`)).toContain(' 400 ')
  expect(last()).toMatchObject({ host: 'github.com', reason: 'malformed' })
  expect(await raw(`CONNECT user:${secret}@github.com:443 HTTP/1.1\r\nHost: x\r\n\r\n`)).toContain(' 400 ')
  expect(last()).toMatchObject({ host: null, reason: 'malformed' })
  expect(await raw(`CONNECT github.com HTTP/1.1\r\nHost: x\r\n\r\n`)).toContain(' 400 ')
  expect(last()).toMatchObject({ host: 'github.com', reason: 'malformed' })
})

it('E85: the authority decides, not the Host header', async () => {
  expect(await curl(`-x ${P} -H 'Host: github.com:443' -p http://evil.example:80/`)).toContain('[403 ')
  expect(last()).toMatchObject({ host: 'evil.example', port: 80, reason: 'not_allowed' })
  expect(await curl(`-x ${P} -H 'Host: localhost:${port}' http://evil.example/`)).toContain('[000 403]')
})

it.each([
  ['an origin', (port: number) => `GET /x HTTP/1.1\r\nHost: localhost:${port}\r\n\r\n`],
  ['an asterisk', () => 'OPTIONS * HTTP/1.1\r\nHost: github.com\r\n\r\n'],
  ['https', () => 'GET https://github.com/ HTTP/1.1\r\nHost: github.com\r\n\r\n'],
  ['ftp', () => 'GET ftp://github.com/ HTTP/1.1\r\nHost: github.com\r\n\r\n'],
  ['no scheme', () => 'GET github.com/ HTTP/1.1\r\nHost: github.com\r\n\r\n'],
  [
    'two lengths',
    () => 'POST http://github.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nContent-Length: 2\r\n\r\nab',
  ],
  [
    'a length and chunks',
    () =>
      'POST http://github.com/ HTTP/1.1\r\nHost: x\r\nContent-Length: 1\r\nTransfer-Encoding: chunked\r\n\r\n0\r\n\r\n',
  ],
  ['no HTTP', () => '\x16\x03\x01\x00\x05hello'],
])('E86: %s is 400, by the socket itself too', async (_, request) => {
  expect(await raw(request(port))).toContain(' 400 ')
  expect(await raw(request(port), '"/run/egress.sock"')).toContain(' 400 ')
})

it.each(['\0', '%00', '\\', '#', '?', ' ', '\t', '/', '@'])(
  'E87: a host that ends another way for others is none: %j',
  async separator => {
    expect(
      await raw(`CONNECT evil.example${separator}.github.com:443 HTTP/1.1\r\nHost: x\r\n\r\n`),
    ).toContain(' 400 ')
  },
)

it('E89: it cannot be bypassed', async () => {
  const away = await egress.run(
    'curl --noproxy "*" -sS -m 3 http://1.1.1.1/ 2>&1; curl --noproxy "*" -sS -m 3 https://github.com/ 2>&1; echo x >/dev/udp/1.1.1.1/53',
  )
  expect(away).toMatch(/Network is unreachable|Couldn't connect|Could not connect|Failed to connect/i)
  expect(away).toContain('Could not resolve host')
  expect(await egress.run('tail -n +3 /proc/net/dev | wc -l; tail -n +2 /proc/net/route | wc -l')).toBe(
    '1\n0\n',
  )
})

it('E92: only the own socket is there, regardless of neighbouring sandboxes', async () => {
  await using other = await startEgress({
    rules: [{ host: 'localhost', port }],
    names: { localhost: ['127.0.0.1'] },
  })
  for (const box of [egress, other])
    expect(await box.run('ls /run; grep -c . /proc/net/unix')).toMatch(/^egress.sock\nexec\ninit\n/)
  const before = other.refusals.length
  await egress.run(`curl --noproxy "" -sS -m 5 http://localhost:${port}/`)
  expect(other.refusals.length).toBe(before)
  expect(
    await egress.run(
      'touch /run/egress.sock 2>&1; rm /run/egress.sock 2>&1; mv /run/egress.sock /tmp/x 2>&1; ls /run',
    ),
  ).toMatch(/egress.sock\nexec\ninit\n$/)
})

it('A21–A26: listeners on the host are unreachable as usual', async () => {
  expect(
    await egress.run(
      `curl --noproxy '*' -sS -m 3 http://127.0.0.1:${port}/ 2>&1; ls /var/run/postgresql /tmp/.s.PGSQL* 2>&1 | grep -c 'No such'`,
    ),
  ).toMatch(/2\n$/)
  expect(await egress.run('getent hosts github.com || echo none')).toBe('none\n')
})
