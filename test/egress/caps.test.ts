import { createServer, type Socket } from 'node:net'
import { expect, it } from 'vitest'
import { listen, servePlain, serveSecure } from './servers.ts'
import { startEgress } from './start-egress.ts'

/** Names of the test are on this machine: the operator's choice makes them reachable. */
const names = { 'a.example': ['127.0.0.1'], 'b.example': ['127.0.0.1'] }

/** Opens many connections in parallel and reports the final outcome of each. */
const many = (count: number, port: number) =>
  `node -e '
const net = require("net"), ends = {}; let open = 0
const note = what => { ends[what] = (ends[what] ?? 0) + 1; if (++open === ${count}) { console.log(JSON.stringify(ends)); process.exit() } }
for (let i = 0; i < ${count}; i++) {
  const s = net.connect(3128, "127.0.0.1", () => s.write("CONNECT a.example:${port} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n"))
  let noted = false; const once = what => noted || (noted = true, note(what))
  s.on("data", d => once(String(d).split(" ")[1])).on("error", () => once("closed")).on("close", () => once("closed"))
}'`

it('E93: of five hundred tunnels sixty-four are open at most, and the others are refused', async () => {
  let most = 0
  const open = new Set<Socket>()
  await using server = await listen(
    createServer(socket => {
      open.add(socket.on('error', () => {}).on('close', () => open.delete(socket)))
      most = Math.max(most, open.size)
    }),
    '127.0.0.1',
    0,
  )
  await using egress = await startEgress({
    rules: [{ host: 'a.example', port: server.port }],
    names,
    allow_private: true,
  })
  const ends = JSON.parse(await egress.run(many(500, server.port)))
  expect(ends[200]).toBeLessThanOrEqual(64)
  expect(ends[200]).toBeGreaterThan(32)
  expect(most).toBeLessThanOrEqual(64)
  expect(egress.refusals.some(({ reason }) => reason === 'cap')).toBe(true)
  // After they are closed new connections are accepted.
  await using plain = await servePlain((_, response) => response.end('ok'))
  egress.rules.push({ host: 'b.example', port: plain.port })
  expect(
    await egress.run(
      `for i in 1 2 3 4 5 6 7 8 9; do curl -sS http://b.example:${plain.port}/ && break; sleep 0.2; done`,
    ),
  ).toContain('ok')
})

it('E93: of five hundred pipelined requests on one connection no more than sixty-four are active', async () => {
  let [open, most] = [0, 0]
  await using plain = await servePlain((_, response) => {
    most = Math.max(most, ++open)
    response.on('close', () => open--)
  })
  await using egress = await startEgress({
    rules: [{ host: 'a.example', port: plain.port }],
    names,
    allow_private: true,
  })
  const request = `GET http://a.example:${plain.port}/ HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n`
  const running = egress.run(
    `node -e 'require("net").connect(3128, "127.0.0.1").on("error", () => {}).on("connect", function () { this.write("${request}".repeat(500)) })'`,
  )
  await expect.poll(() => egress.refusals.length, { timeout: 10_000 }).toBe(500 - 64)
  expect(egress.refusals[0]).toMatchObject({ host: 'a.example', reason: 'cap' })
  await expect.poll(() => open, { timeout: 10_000 }).toBe(64)
  expect(most).toBe(64)
  egress.proxy.close()
  await running
})

it('E93: a tunnel in which nothing happens is closed, before its greeting and after', async () => {
  await using secure = await serveSecure((_, response) => response.write('begun'))
  await using egress = await startEgress({
    rules: [{ host: 'a.example', port: secure.port }],
    names,
    allow_private: true,
    caps: { idle_ms: 300, wait_ms: 300 },
  })
  const silent = `CONNECT a.example:${secure.port} HTTP/1.1\\r\\nHost: x\\r\\n\\r\\n`
  expect(
    await egress.run(
      `node -e 'const s = require("net").connect(3128, "127.0.0.1", () => s.write("${silent}")); s.on("close", () => console.log("closed")).resume()'`,
    ),
  ).toBe('closed\n')
  expect(
    await egress.run(
      `node -e 'const s = require("net").connect(3128, "127.0.0.1", () => s.write("GET http://a")); s.on("close", () => console.log("closed")).resume()'`,
    ),
  ).toBe('closed\n')
  expect(await egress.run(`curl -k -sS https://a.example:${secure.port}/ 2>&1`)).toMatch(
    /^begun|unexpected eof|closed|reset/i,
  )
})

it('E93: what a sandbox may send and receive in all has an end', async () => {
  await using secure = await serveSecure((_, response) => response.end('z'.repeat(3_000_000)))
  await using plain = await servePlain((_, response) => response.end('z'.repeat(600_000)))
  const rules = [
    { host: 'a.example', port: secure.port },
    { host: 'b.example', port: plain.port },
  ]
  await using egress = await startEgress({ rules, names, allow_private: true, caps: { bytes: 1_000_000 } })
  expect(await egress.run(`curl -sS http://b.example:${plain.port}/ | wc -c`)).toBe('600000\n')
  expect(
    Number(await egress.run(`curl -k -sS https://a.example:${secure.port}/ 2>/dev/null | wc -c`)),
  ).toBeLessThan(1_000_000)
  expect(await egress.run(`curl -sS -o /dev/null -w '%{http_code}' http://b.example:${plain.port}/`)).toBe(
    '429',
  )
  expect(egress.refusals.at(-1)).toMatchObject({ host: 'b.example', reason: 'cap' })
})
