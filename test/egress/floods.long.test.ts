import { createServer } from 'node:net'
import { expect, it } from 'vitest'
import { listen, servePlain } from './servers.ts'
import { startEgress, type TestEgress } from './start-egress.ts'

const names = { 'a.example': ['127.0.0.1'] }
const open = { names, allow_private: true }

/**
 * Connects `count` times, sends `text` on each, and prints how often the first line of the response was
 * which; `closed`: there was none.
 */
const flood = (count: number, text: string) => `node -e '
const net = require("net"), ends = {}; let left = ${count}
for (let i = 0; i < ${count}; i++) {
  let got = ""
  net.connect(3128, "127.0.0.1", function () { this.write(${JSON.stringify(text)}) })
    .on("data", data => { got += data }).on("error", () => {})
    .on("close", () => { const line = got.split("\\r\\n")[0] || "closed"; ends[line] = (ends[line] ?? 0) + 1; if (--left === 0) console.log(JSON.stringify(ends)) })
}'`

/** Sends requests until `until` resolves; returns the unexpected outputs. */
async function requestMeanwhile(
  { run }: TestEgress,
  url: string,
  until: Promise<unknown>,
): Promise<string[]> {
  const odd: string[] = []
  let requested = 0
  for (let going = true; going || requested < 3; requested++) {
    going = await Promise.race([
      until.then(() => false),
      run(`curl -sS -m 10 ${url} 2>&1`).then(output => odd.push(output) > 0),
    ])
  }
  return odd.filter(output => output !== 'fine')
}

it('E132: ten thousand connections of one run are closed or get a response, and another run and the worker do not notice', async () => {
  await using server = await servePlain((_, response) => response.end('fine'))
  const rules = [{ host: 'a.example', port: server.port }]
  await using bomb = await startEgress({ rules, ...open, caps: { wait_ms: 2_000 } })
  await using other = await startEgress({ rules, ...open })
  const url = `http://a.example:${server.port}/`
  const held = flood(2_500, 'GET http://a.exam')
  const flooding = bomb.run(`for i in 1 2 3 4; do ${held} & done; wait`)
  expect(await requestMeanwhile(other, url, flooding)).toEqual([])
  const ends = (await flooding)
    .trim()
    .split('\n')
    .map(line => JSON.parse(line))
  expect(ends.map(counts => Object.values<number>(counts).reduce((sum, n) => sum + n, 0))).toEqual(
    Array(4).fill(2_500),
  )
  // After they are closed new connections are accepted.
  expect(await bomb.run(`curl -sS ${url}`)).toBe('fine')
})

it.each([
  ['a head that never ends', `GET http://a.example/ HTTP/1.1\r\n${'x: y\r\n'.repeat(4_000)}`],
  ['a first line that never ends', `GET http://a.example/${'x'.repeat(100_000)}`],
  ['half of a greeting after CONNECT', 'CONNECT a.example:443 HTTP/1.1\r\nHost: a\r\n\r\n\x16\x03\x01'],
  [
    'a body that never comes',
    'POST http://nobody.example/ HTTP/1.1\r\nHost: a\r\nContent-Length: 1000000\r\n\r\n',
  ],
])('E132: %s is cut off in the time that a request has', async (_, text) => {
  await using egress = await startEgress({
    rules: [{ host: 'b.example' }],
    ...open,
    caps: { wait_ms: 500, idle_ms: 1_500 },
  })
  const ends = JSON.parse(await egress.run(flood(20, text)))
  expect(Object.values<number>(ends).reduce((sum, n) => sum + n, 0)).toBe(20)
  expect(Object.keys(ends).filter(line => !/^(closed|HTTP\/1\.1 4\d\d .*)$/.test(line))).toEqual([])
})

it('E132: a client that sends one byte a second delays only its own connection', async () => {
  await using server = await servePlain((_, response) => response.end('fine'))
  await using egress = await startEgress({
    rules: [{ host: 'a.example', port: server.port }],
    ...open,
    caps: { wait_ms: 1_500 },
  })
  const drip = `node -e 'for (let i = 0; i < 60; i++) { const s = require("net").connect(3128, "127.0.0.1"); s.on("error", () => {}); let n = 0; const t = setInterval(() => s.write("GET http://a.example/"[n++] ?? "x"), 100); s.on("close", () => clearInterval(t)) }'`
  const dripping = egress.box.separate(drip)
  const url = `http://a.example:${server.port}/`
  expect(await requestMeanwhile(egress, url, dripping)).toEqual([])
  expect((await dripping).status).toBe('exited')
})

const ambiguous: [string, string, string][] = [
  [
    'two ways to say where a body ends',
    'Content-Length: 5\r\nTransfer-Encoding: chunked',
    '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
  ['two lengths', 'Content-Length: 0\r\nContent-Length: 40', 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a list of lengths', 'Content-Length: 0, 40', 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'],
  [
    'chunked, and something after it',
    'Transfer-Encoding: chunked, identity',
    '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
  [
    'chunked twice',
    'Transfer-Encoding: chunked\r\nTransfer-Encoding: chunked',
    '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
  ['chunked with a tab', 'Transfer-Encoding:\tchunked', '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'],
  [
    'chunked with a blank before the colon',
    'Transfer-Encoding : chunked',
    '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
  ['a folded header', 'X: y\r\n Transfer-Encoding: chunked', 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'],
  ['a length with a sign', 'Content-Length: +40', 'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n'],
  [
    'a chunk whose size has a newline of its own',
    'Transfer-Encoding: chunked',
    '5;\nx\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n',
  ],
  [
    'a chunk size beyond any number',
    'Transfer-Encoding: chunked',
    'ffffffffffffffff5\r\nhello\r\n0\r\n\r\nGET /smuggled HTTP/1.1\r\n\r\n',
  ],
  [
    'a trailer that is a header',
    'Transfer-Encoding: chunked\r\nTrailer: host',
    '0\r\nHost: b\r\nContent-Length: 9\r\n\r\n',
  ],
  [
    'length taken away as a thing of the connection',
    'Connection: content-length, close\r\nContent-Length: 40',
    'GET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
  [
    'transfer encoding taken away as a thing of the connection',
    'Connection: transfer-encoding, close\r\nTransfer-Encoding: chunked',
    '28\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n\r\n0\r\n\r\n',
  ],
  [
    'lines that end with a newline alone',
    'X: y\nTransfer-Encoding: chunked',
    '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
  [
    'a header with an end of line in it',
    'X: y\rTransfer-Encoding: chunked',
    '0\r\n\r\nGET /smuggled HTTP/1.1\r\nHost: a\r\n\r\n',
  ],
  [
    'an upgrade',
    'Connection: upgrade, close\r\nUpgrade: h2c\r\nHTTP2-Settings: AAMAAABkAAQAAP__',
    'PRI * HTTP/2.0\r\n\r\nSM\r\n\r\n',
  ],
  ['two hosts', 'Host: b.example\r\nHost: c.example', ''],
]
it('E133: no request smuggles another one through the proxy, for every way to declare the end of its body', async () => {
  let received: string[] = []
  await using server = await listen(
    createServer(socket => {
      const n = received.push('') - 1
      socket
        .on('error', () => {})
        .on('data', data => {
          received[n] += data.toString('latin1')
          if (/\r\n\r\n/.test(received[n] ?? ''))
            socket.end('HTTP/1.1 200 OK\r\nContent-Length: 2\r\nConnection: close\r\n\r\nok')
        })
    }),
    '127.0.0.1',
    0,
  )
  const rules = [{ host: 'a.example', port: server.port, methods: ['POST' as const] }]
  await using egress = await startEgress({ rules, ...open, caps: { wait_ms: 500, idle_ms: 1_000 } })
  for (const [what, headers, body] of ambiguous) {
    received = []
    const line = `POST http://a.example:${server.port}/asked HTTP/1.1\r\nHost: a.example:${server.port}`
    await egress.run(
      flood(
        1,
        `${line}\r\n${/^connection:/i.test(headers) ? '' : 'Connection: close\r\n'}${headers}\r\n\r\n${body}`,
      ),
    )
    expect(received.length, what).toBeLessThanOrEqual(1)
    for (const request of received.filter(text => text !== ''))
      expect(oneRequest(request), `${what}: ${request}`).toBe(true)
  }
})

/** One request whose body a server reads as the proxy wrote it: nothing is left that would be another one. */
function oneRequest(request: string): boolean {
  const end = request.indexOf('\r\n\r\n')
  const [head, sent] = [request.slice(0, end), request.slice(end + 4)]
  const length = /^content-length: (\d+)$/im.exec(head)?.[1]
  const chunked = /^transfer-encoding: chunked$/im.test(head)
  if (head.match(/^host: /gim)?.length !== 1 || (chunked && length !== undefined)) return false
  return chunked
    ? sent === '' || sent.indexOf('0\r\n\r\n') === sent.length - 5
    : sent.length <= Number(length ?? 0)
}

it('E133: requests one behind the other are each judged by their own rule', async () => {
  const received: string[] = []
  await using server = await servePlain((request, response) => {
    received.push(`${request.method} ${request.headers.host} ${request.url}`)
    response.end('fine')
  })
  await using egress = await startEgress({
    rules: [{ host: 'a.example', port: server.port, methods: ['GET'] }],
    ...open,
  })
  const requestText = (method: string, host: string, path: string) =>
    `${method} http://${host}:${server.port}${path} HTTP/1.1\r\nHost: a.example\r\n\r\n`
  const last = `GET http://a.example:${server.port}/3 HTTP/1.1\r\nConnection: close\r\n\r\n`
  await egress.run(
    flood(
      1,
      requestText('GET', 'a.example', '/1') +
        requestText('DELETE', 'a.example', '/2') +
        requestText('GET', 'b.example', '/2') +
        last,
    ),
  )
  expect(received.filter(line => !line.startsWith(`GET a.example:${server.port} /`))).toEqual([])
  expect(received.some(line => line.endsWith('/2'))).toBe(false)
})

it('E133: bytes that come with CONNECT go nowhere when it is refused', async () => {
  const received: string[] = []
  await using server = await listen(
    createServer(socket => socket.on('error', () => {}).on('data', data => received.push(String(data)))),
    '127.0.0.1',
    0,
  )
  await using egress = await startEgress({
    rules: [{ host: 'a.example', port: server.port }],
    ...open,
    caps: { wait_ms: 500 },
  })
  const body = 'GET /smuggled HTTP/1.1\r\nHost: a.example\r\n\r\n'
  const connect = (host: string, more = '') =>
    `CONNECT ${host}:${server.port} HTTP/1.1\r\nHost: x\r\n${more}\r\n${body}`
  await egress.run(flood(1, connect('a.example')))
  await egress.run(flood(1, connect('b.example')))
  await egress.run(flood(1, connect('a.example', `Content-Length: ${body.length}\r\n`)))
  await egress.run(flood(1, connect('a.example', 'Transfer-Encoding: chunked\r\n')))
  expect(received).toEqual([])
  expect(egress.refusals.map(({ reason }) => reason)).toEqual(expect.arrayContaining(['sni', 'not_allowed']))
})
