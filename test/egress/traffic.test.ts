import { createServer as createHttpServer, type IncomingMessage, type ServerResponse } from 'node:http'
import { connect, createServer } from 'node:net'
import { expect, it } from 'vitest'
import { listen, servePlain, serveSecure } from './servers.ts'
import { startEgress } from './start-egress.ts'

/** Names of the test are on this machine: the operator's choice makes them reachable. */
const names = { 'a.example': ['127.0.0.1'], 'b.example': ['127.0.0.1'] }

it('allowed traffic passes unchanged, in plain and through a tunnel, with bodies in both directions', async () => {
  const listener = (request: IncomingMessage, response: ServerResponse) => {
    let size = 0
    request.on('data', chunk => (size += chunk.length))
    request.on('end', () => {
      response.setHeader('x-size', size)
      response.end(
        `${request.method} ${request.url} ${request.headers.host} ${size}\n${'y'.repeat(5_000_000)}`,
      )
    })
  }
  await using plain = await servePlain(listener)
  await using secure = await serveSecure(listener)
  await using egress = await startEgress({
    rules: [
      { host: 'a.example', port: plain.port },
      { host: 'a.example', port: secure.port },
    ],
    names,
    allow_private: true,
  })
  for (const [url, port] of [
    [`http://a.example:${plain.port}/x?y=1`, plain.port],
    [`https://a.example:${secure.port}/x?y=1`, secure.port],
  ] as const) {
    const up = 'head -c 3000000 /dev/zero'
    const line = `POST /x?y=1 a.example:${port} 3000000\n`
    expect(
      await egress.run(`${up} | curl -k -sS --data-binary @- -o got ${url}; head -1 got; wc -c <got`),
    ).toBe(`${line}${5_000_000 + line.length}\n`)
    expect(await egress.run(`${up} | curl -k -sS -T - -o got ${url}; head -1 got`)).toBe(
      `PUT /x?y=1 a.example:${port} 3000000\n`,
    )
    expect(await egress.run(`curl -k -sS -I -o /dev/null -w '%{http_code}' ${url}`)).toBe('200')
  }
  expect(egress.refusals).toEqual([])
})

it('E88: a name is resolved once, and connected to is the address that was checked', async () => {
  await using good = await servePlain((_, response) => response.end('good'), '127.0.0.2')
  await using _bad = await servePlain((_, response) => response.end('bad'), '127.0.0.1', good.port)
  const responses = ['127.0.0.2', '127.0.0.1', '127.0.0.1']
  let requested = 0
  const flip = () => [responses[requested++] ?? '127.0.0.1']
  await using egress = await startEgress({
    rules: [{ host: 'flip.example', port: good.port }],
    names: { 'flip.example': flip },
    allow_private: true,
  })
  expect(await egress.run(`curl -sS http://flip.example:${good.port}/`)).toBe('good')
  expect(requested).toBe(1)
})

it('E88: of a name with a forbidden address none is connected to, whichever comes first', async () => {
  const requested: string[] = []
  const resolve = (addresses: string[]) => () => {
    requested.push(addresses.join())
    return addresses
  }
  const lists = [
    ['93.184.216.34', '10.0.0.1'],
    ['10.0.0.1', '93.184.216.34'],
    ['169.254.169.254'],
    ['fe80::1'],
    ['::ffff:10.0.0.1'],
    ['2002:7f00:1::'],
    ['100.64.0.1'],
  ]
  const found = Object.fromEntries(lists.map((addresses, index) => [`n${index}.example`, resolve(addresses)]))
  await using egress = await startEgress({
    rules: [{ host: '*.n.example' }, ...Object.keys(found).map(host => ({ host }))],
    names: found,
  })
  for (const host of Object.keys(found))
    expect(await egress.run(`curl -sS -o /dev/null -w '%{http_code}' http://${host}/`), host).toBe('403')
  expect(egress.refusals.map(({ reason }) => reason)).toEqual(lists.map(() => 'private_address'))
  expect(requested).toHaveLength(lists.length)
})

it('E141: addresses where clouds keep the keys of machines stay closed, regardless of the rules and of their notation', async () => {
  const addresses = [
    '169.254.169.254',
    'fd00:ec2::254',
    '0.0.0.0',
    '168.63.129.16',
    'fd20:ce::254',
    '64:ff9b::a9fe:a9fe',
    '2002:a9fe:a9fe::1',
  ]
  const closed = Object.fromEntries(addresses.map((address, index) => [`n${index}.example`, [address]]))
  await using egress = await startEgress({
    rules: Object.keys(closed).map(host => ({ host })),
    names: closed,
    allow_private: true,
  })
  for (const host of Object.keys(closed))
    expect(await egress.run(`curl -sS -o /dev/null -w '%{http_code}' http://${host}/`)).toBe('403')
})

it('a name that no rule allows is not resolved', async () => {
  let requested = 0
  const canary = () => [`127.0.0.${++requested}`]
  await using egress = await startEgress({
    rules: [{ host: 'a.example' }],
    names: { 'secret.evil.example': canary },
  })
  await egress.run('curl -sS http://secret.evil.example/; curl -sS https://secret.evil.example/')
  expect(requested).toBe(0)
  expect(egress.refusals.map(({ method, reason }) => `${method} ${reason}`)).toEqual([
    'GET not_allowed',
    'CONNECT not_allowed',
  ])
})

it('E90: a tunnel whose greeting is to another host is closed, and so is one without TLS', async () => {
  const received: string[] = []
  await using server = await listen(
    createServer(socket =>
      socket.on('data', chunk => received.push(chunk.toString('latin1'))).on('error', () => {}),
    ),
    '127.0.0.1',
    0,
  )
  await using egress = await startEgress({
    rules: [{ host: 'a.example', port: server.port }],
    names,
    allow_private: true,
  })
  const ways = [
    `curl -k -sS -m 5 --connect-to evil.example:443:a.example:${server.port} https://evil.example/ 2>&1`,
    `curl -k -sS -m 5 -p http://a.example:${server.port}/ 2>&1`,
  ]
  for (const way of ways)
    expect(await egress.run(way)).toMatch(
      /alert access denied|tlsv1 alert|Received HTTP\/0.9|Empty reply|wrong version|reset/i,
    )
  expect(egress.refusals).toMatchObject([
    {
      host: 'a.example',
      port: server.port,
      reason: 'sni',
      why: 'the greeting is to evil.example, not to a.example',
    },
    { host: 'a.example', reason: 'sni', why: 'a tunnel carries TLS and nothing else' },
  ])
  expect(received).toEqual([])
})

it('E91: a rule for reading permits no write and no tunnel', async () => {
  const received: string[] = []
  await using server = await servePlain((request, response) => {
    received.push(`${request.method} ${request.url}`)
    response.end('ok')
  })
  const { port } = server
  await using egress = await startEgress({
    rules: [{ host: 'a.example', port, methods: ['GET', 'HEAD'] }],
    names,
    allow_private: true,
  })
  const status = (command: string) =>
    egress.run(`curl -sS -o /dev/null -w '%{http_connect} %{http_code}' ${command} 2>/dev/null`)
  expect(await status(`http://a.example:${port}/x`)).toBe('000 200')
  expect(await status(`-d data http://a.example:${port}/x`)).toBe('000 403')
  expect(await status(`-X DELETE http://a.example:${port}/x`)).toBe('000 403')
  expect(await status(`https://a.example:${port}/x`)).toBe('403 000')
  // A second request in the body of the first, whose end is called a thing of the connection.
  const hidden = `GET http://a.example:${port}/1 HTTP/1.1\r\nHost: x\r\nConnection: content-length\r\nContent-Length: 33\r\n\r\nPOST /2 HTTP/1.1\r\nHost: a.example\r\n\r\n`
  await egress.run(
    `node -e 'const s = require("net").connect(3128, "127.0.0.1", () => s.end(Buffer.from("${Buffer.from(hidden).toString('base64')}", "base64"))); s.resume()'`,
  )
  expect(received).toEqual(['GET /x', 'GET /1'])
  expect(egress.refusals.map(({ method, reason }) => `${method} ${reason}`)).toEqual([
    'POST method',
    'DELETE method',
    'CONNECT method',
  ])
})

it('hop-by-hop headers are not forwarded, and the authority is the host', async () => {
  let seen: string[] = []
  await using server = await servePlain((request, response) => {
    seen = request.rawHeaders
    response.writeHead(200, [
      'X-Own',
      '1',
      'Connection',
      'X-Secret',
      'X-Secret',
      '2',
      'Proxy-Authenticate',
      'x',
      'Set-Cookie',
      'a',
      'Set-Cookie',
      'b',
    ])
    response.end('ok')
  })
  await using egress = await startEgress({
    rules: [{ host: 'a.example', port: server.port }],
    names,
    allow_private: true,
  })
  const headers = [
    'Host: evil.example',
    'Connection: X-Hop',
    'X-Hop: 1',
    'Proxy-Authorization: Basic x',
    'Proxy-Connection: x',
    'TE: trailers',
    'Upgrade: websocket',
    'X-Kept: 1',
  ]
  const response = await egress.run(
    `curl -sS -i ${headers.map(header => `-H '${header}'`).join(' ')} http://a.example:${server.port}/`,
  )
  const names_of = seen.filter((_, index) => index % 2 === 0).map(name => name.toLowerCase())
  expect(names_of.sort()).toEqual(['accept', 'connection', 'host', 'user-agent', 'via', 'x-kept'])
  expect(seen[seen.indexOf('Host') + 1]).toBe(`a.example:${server.port}`)
  expect(response).toMatch(/X-Own: 1/)
  expect(response.match(/Set-Cookie/g)).toHaveLength(2)
  expect(response).not.toMatch(/X-Secret|Proxy-Authenticate/)
})

it('an open tunnel that is no longer allowed is closed, and one that still is continues', async () => {
  await using secure = await serveSecure((_, response) => response.write('begun'))
  const rules = ['a.example', 'b.example'].map(host => ({ host, port: secure.port }))
  await using egress = await startEgress({ rules, names, allow_private: true })
  const get = (host: string) =>
    `curl -k -sSN https://${host}:${secure.port}/ >${host} 2>&1 & ${host[0]}=$!; until grep -q begun ${host}; do sleep 0.05; done`
  await egress.run(`${get('a.example')}; ${get('b.example')}`)
  egress.rules.shift()
  await egress.proxy.recheck()
  expect(await egress.run('wait $a; kill -0 $b && echo alive')).toBe('alive\n')
})

it('rules that change hold for the next request', async () => {
  await using plain = await servePlain((_, response) => response.end('ok'))
  await using egress = await startEgress({ rules: [], names, allow_private: true })
  const status = () => egress.run(`curl -sS -o /dev/null -w '%{http_code}' http://a.example:${plain.port}/`)
  expect(await status()).toBe('403')
  egress.rules.push({ host: 'a.example', port: plain.port })
  expect(await status()).toBe('200')
  egress.rules.length = 0
  expect(await status()).toBe('403')
})

it('with a proxy of the operator all traffic uses it, with its password, and private names stay closed', async () => {
  const requested: string[] = []
  await using secure = await serveSecure((_, response) => response.end('far'))
  const upstream = createHttpServer((request, response) => {
    requested.push(`${request.method} ${request.url} ${request.headers['proxy-authorization']}`)
    response.end('by proxy')
  })
  upstream.on('connect', (request, socket) => {
    requested.push(`CONNECT ${request.url} ${request.headers['proxy-authorization']}`)
    const far = connect(secure.port, '127.0.0.1', () => socket.write('HTTP/1.1 200 OK\r\n\r\n'))
    far.pipe(socket).pipe(far)
  })
  await using proxy = await listen(upstream, '127.0.0.1', 0)
  await using egress = await startEgress({
    rules: [{ host: 'unknown.example' }, { host: 'inner.example' }],
    names: { 'inner.example': ['10.0.0.1'] },
    upstream: new URL(`http://me:pass%20word@127.0.0.1:${proxy.port}`),
  })
  expect(
    await egress.run('curl -sS http://unknown.example/x; echo; curl -k -sS https://unknown.example/'),
  ).toBe('by proxy\nfar')
  const password = `Basic ${Buffer.from('me:pass word').toString('base64')}`
  expect(requested).toEqual([
    `GET http://unknown.example/x ${password}`,
    `CONNECT unknown.example:443 ${password}`,
  ])
  expect(await egress.run("curl -sS -o /dev/null -w '%{http_code}' http://inner.example/; env")).toMatch(
    /^403(?![\s\S]*pass)/,
  )
})

it('an allowed but unreachable host is not a refusal, and the error names the cause', async () => {
  await using egress = await startEgress({
    rules: [{ host: 'a.example' }, { host: 'gone.example' }],
    names,
    allow_private: true,
  })
  expect(await egress.run("curl -sS -w ' %{http_code}' http://gone.example/")).toBe(
    'the name gone.example cannot be resolved\n 502',
  )
  expect(await egress.run("curl -sS -w ' %{http_code}' http://a.example/")).toBe(
    'a.example:80 cannot be reached (ECONNREFUSED)\n 502',
  )
  expect(egress.refusals).toEqual([])
})
