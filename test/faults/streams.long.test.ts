import { chmodSync, mkdtempSync, readFileSync, realpathSync, rmSync } from 'node:fs'
import { connect, type Socket } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Database } from '../../src/store/database.ts'
import { notifyRun } from '../../src/store/notify.ts'
import { append } from '../../src/store/runs/append.ts'
import { entry } from '../../src/trace/entry.ts'
import { openFrames } from '../api/trace/read-frames.ts'
import { createTestDatabase } from '../database.ts'
import { type ServiceProcess, startServiceProcess } from '../runs/recovery/service-process.ts'
import { TOKEN } from '../start-app.ts'

const soak = process.env.TEST_SOAK === '1'
const stack = new AsyncDisposableStack()
let db: Database
let service: ServiceProcess
beforeAll(async () => {
  const { url } = stack.use(await createTestDatabase())
  db = stack.use(new Database(url, { max: 2, on_error: () => {} }))
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-streams-')))
  chmodSync(folder, 0o755)
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const limits = ['STANDARD', 'AGENT_CREATION', 'TOKEN_TOTAL'].map(name => [`AGENTRUN_LIMIT_${name}`, 'off'])
  const env = {
    ...Object.fromEntries(limits),
    DATABASE_URL: url,
    AGENTRUN_DATA_DIR: join(folder, 'data'),
    AGENTRUN_INIT_TOKEN: TOKEN,
  }
  service = await startServiceProcess(env, 'serve')
  stack.defer(async () => {
    service.child.kill('SIGTERM')
    await service.ended
  })
  expect(service.base_url, service.output).not.toBe('')
}, 60_000)
afterAll(() => stack.disposeAsync())

const PATH = '/v1/organizations/1/agent/run'
const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
async function createRun(): Promise<number> {
  const body = JSON.stringify({ prompt: 'followed', repo_id: null, repoless: true })
  const response = await fetch(service.base_url + PATH, { method: 'POST', headers, body })
  return ((await response.json()) as { id: number }).id
}
async function write(id: number, count: number, bytes: number) {
  const each = entry({ message_type: 'ERROR', observation: 'x'.repeat(bytes) })
  for (let i = 0; i < count; i++) await append(db, 1, id, null, { entries: [each] })
  await notifyRun(db, 1, id)
}
const rssOf = (pid: number | undefined) =>
  Number(/VmRSS:\s+(\d+) kB/.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1]) * 1024

/** A reader that requests the stream and then reads nothing of it. */
async function openStalled(id: number): Promise<Socket> {
  const { hostname, port } = new URL(service.base_url)
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {})
  socket.pause()
  await new Promise<void>(resolve =>
    socket.write(
      `GET ${PATH}/${id}/events HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKEN}\r\n\r\n`,
      () => resolve(),
    ),
  )
  return socket
}

test('fault 39: readers that read nothing cost a bounded buffer each and block no other', async () => {
  const count = soak ? 500 : 100
  const id = await createRun()
  await write(id, 60, 90_000)
  const before = rssOf(service.child.pid)
  const stalled = await Promise.all(Array.from({ length: count }, () => openStalled(id)))
  try {
    const last = 121
    await using quick = await openFrames({ base_url: service.base_url, token: TOKEN }, `${PATH}/${id}/events`)
    await quick.until(frames => frames.some(frame => frame.id === '61'))
    await write(id, 60, 90_000)
    await quick.until(frames => frames.some(frame => frame.id === String(last)))
    const ids = quick.frames.filter(frame => frame.event === 'log').map(frame => frame.id)
    expect(ids).toEqual(Array.from({ length: last }, (_, i) => String(i + 1)))
    // 256 KiB may wait for each, and one entry on top of that; twice as much for what the collector has not
    // got to yet.
    expect(rssOf(service.child.pid) - before).toBeLessThan(2 * count * (256 + 96) * 1024 + 128 * 1024 ** 2)
    expect((await fetch(`${service.base_url}/readyz`)).status).toBe(200)
    // Longer than one may take nothing: what is still to read then is the end.
    if (soak) await new Promise(resolve => setTimeout(resolve, 12_000))
    if (soak)
      await Promise.all(
        stalled.map(socket => new Promise(resolve => socket.once('close', resolve) && socket.resume())),
      )
  } finally {
    for (const socket of stalled) socket.destroy()
  }
}, 120_000)

test('fault 38: a client that leaves in the middle of a request leaves a whole run or none, and the service still responds', async () => {
  const body = JSON.stringify({ prompt: 'left in the middle', repo_id: null, repoless: true })
  const request = `POST ${PATH} HTTP/1.1\r\nhost: localhost\r\nauthorization: Bearer ${TOKEN}\r\ncontent-type: application/json\r\ncontent-length: ${body.length}\r\n\r\n${body}`
  const { hostname, port } = new URL(service.base_url)
  const leave = (bytes: number) =>
    new Promise<void>(resolve => {
      const socket = connect({ host: hostname, port: Number(port) }, () =>
        socket.write(request.slice(0, bytes), () => socket.destroy()),
      )
      socket.on('error', () => {})
      socket.on('close', () => resolve())
    })
  await Promise.all(Array.from({ length: 60 }, (_, i) => leave(Math.ceil((request.length * (i + 1)) / 60))))
  await createRun()
  const { rows } = await db.query<{ logs: number; entries: number; events: number }>({
    text: `select total_logs as logs, (select count(*) from log_entries l where l.run_id = r.id) as entries,
        (select count(*) from events e where e.run_id = r.id) as events
      from runs r
      where prompt = 'left in the middle'`,
  })
  for (const run of rows) expect(run).toEqual({ logs: 1, entries: 1, events: 1 })
})
