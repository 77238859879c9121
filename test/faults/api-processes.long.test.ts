import { chmodSync, mkdtempSync, realpathSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { Database } from '../../src/store/database.ts'
import { notifyRun } from '../../src/store/notify.ts'
import { append } from '../../src/store/runs/append.ts'
import { entry } from '../../src/trace/entry.ts'
import { openFrames, type StreamFrame } from '../api/trace/read-frames.ts'
import { createTestDatabase } from '../database.ts'
import { type ServiceProcess, startServiceProcess } from '../runs/recovery/service-process.ts'
import { TOKEN } from '../start-app.ts'
import { CommitProxy } from './commit-proxy.ts'

const stack = new AsyncDisposableStack()
const soak = process.env.TEST_SOAK === '1'
let db: Database
let proxy: CommitProxy
let proxied: string
let start: (through?: string) => Promise<ServiceProcess>
beforeAll(async () => {
  const { url } = stack.use(await createTestDatabase())
  db = stack.use(new Database(url, { max: 2, on_error: () => {} }))
  proxy = stack.use(new CommitProxy(url, 'insert_run'))
  proxied = await proxy.listen()
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-api-')))
  chmodSync(folder, 0o755)
  stack.defer(() => rmSync(folder, { recursive: true, force: true }))
  const limits = ['STANDARD', 'AGENT_CREATION', 'TOKEN_TOTAL'].map(name => [`AGENTRUN_LIMIT_${name}`, 'off'])
  let nodes = 0
  start = async (through = url) => {
    const env = {
      AGENTRUN_DATA_DIR: join(folder, `node-${++nodes}`),
      AGENTRUN_INIT_TOKEN: TOKEN,
      AGENTRUN_SECRET_KEY: '0'.repeat(64),
    }
    const started = await startServiceProcess(
      { ...Object.fromEntries(limits), DATABASE_URL: through, ...env },
      'serve',
    )
    stack.defer(async () => {
      started.child.kill('SIGKILL')
      await started.ended
    })
    if (started.base_url === '') throw new Error((await started.ended).output)
    return started
  }
}, 60_000)
afterAll(() => stack.disposeAsync())

const PATH = '/v1/organizations/1/agent/run'
/** A create with a key; rejects when the connection breaks. */
async function create(
  service: ServiceProcess,
  key: string,
): Promise<{ status: number; id: number; replayed: boolean }> {
  const headers = {
    authorization: `Bearer ${TOKEN}`,
    'content-type': 'application/json',
    'idempotency-key': key,
  }
  const body = JSON.stringify({ prompt: key, repo_id: null, repoless: true })
  const response = await fetch(service.base_url + PATH, { method: 'POST', headers, body })
  const { id } = (await response.json()) as { id: number }
  return { status: response.status, id, replayed: response.headers.get('idempotent-replayed') === 'true' }
}
const runsOf = async (key: string) =>
  (await db.query<{ id: number }>({ text: 'select id from runs where prompt = $1', values: [key] })).rows.map(
    row => row.id,
  )

test('faults 1 and 2: an API process that is killed before a commit leaves no run, one killed after it leaves the run, and the same key gives exactly that one', async () => {
  const survivor = await start()
  for (const at of ['before commit', 'after commit'] as const) {
    const victim = await start(proxied)
    const struck = proxy.arm(at, () => victim.child.kill('SIGKILL'))
    await expect(create(victim, at)).rejects.toThrow('fetch failed')
    await struck
    await victim.ended
    const left = await runsOf(at)
    expect(left).toHaveLength(at === 'before commit' ? 0 : 1)
    const response = await create(survivor, at)
    expect(response).toMatchObject({ status: 200, replayed: at === 'after commit' })
    expect(await runsOf(at)).toEqual([response.id])
    if (left[0] !== undefined) expect(response.id).toBe(left[0])
  }
}, 60_000)

test('fault 1: creates that are repeated until they succeed create one run each, regardless of how many processes are killed meanwhile', async () => {
  const [creates, kills] = soak ? [200, 30] : [60, 3]
  const nodes = [await start(), await start()]
  let responded = 0
  const one = async (key: string) => {
    for (let attempt = 0; ; attempt++) {
      const node = nodes[attempt % nodes.length]
      const response = node && (await create(node, key).catch(() => null))
      if (response?.status === 200) {
        responded++
        return response.id
      }
      await new Promise(resolve => setTimeout(resolve, 20))
    }
  }
  const client = async (n: number) => {
    const ids: [string, number][] = []
    for (let i = 0; i < creates / 10; i++) ids.push([`key-${n}-${i}`, await one(`key-${n}-${i}`)])
    return ids
  }
  const clients = Promise.all(Array.from({ length: 10 }, (_, n) => client(n)))
  for (let kill = 0; kill < kills; kill++) {
    const goal = (creates * (kill + 1)) / (kills + 2)
    while (responded < goal) await new Promise(resolve => setTimeout(resolve, 5))
    nodes[kill % 2]?.child.kill('SIGKILL')
    nodes[kill % 2] = await start()
  }
  for (const [key, id] of (await clients).flat()) expect(await runsOf(key)).toEqual([id])
  const { rows } = await db.query<{ n: number }>({
    text: "select count(*) as n from runs where prompt like 'key-%'",
  })
  expect(rows).toEqual([{ n: creates }])
}, 300_000)

test('fault 3: a stream whose process is killed continues at another one at its last position, without gaps or duplicates', async () => {
  const victim = await start()
  const survivor = await start()
  const { id } = await create(survivor, 'followed')
  const killed = Promise.withResolvers<void>()
  const write = async (count: number) => {
    for (let i = 0; i < count; i++) {
      await append(db, 1, id, null, { entries: [entry({ message_type: 'ERROR', observation: `${i}` })] })
      await notifyRun(db, 1, id)
      if (i === count / 2) await killed.promise
    }
  }
  const written = write(150)
  const seen: StreamFrame[] = []
  const logs = () => seen.filter(frame => frame.event === 'log')
  await using before = await openFrames({ base_url: victim.base_url, token: TOKEN }, `${PATH}/${id}/events`)
  await before.until(frames => frames.length > 40)
  victim.child.kill('SIGKILL')
  killed.resolve()
  await before.closed().catch(() => {})
  seen.push(...before.frames)
  const resume = { 'last-event-id': logs().at(-1)?.id ?? '0' }
  await using after = await openFrames(
    { base_url: survivor.base_url, token: TOKEN },
    `${PATH}/${id}/events`,
    resume,
  )
  await written
  await after.until(frames => frames.some(frame => frame.id === '151'))
  seen.push(...after.frames)
  expect(logs().map(frame => frame.id)).toEqual(Array.from({ length: 151 }, (_, i) => String(i + 1)))
  const headers = { authorization: `Bearer ${TOKEN}` }
  const pages = await Promise.all(
    [0, 100].map(async skip =>
      (await fetch(`${survivor.base_url}${PATH}/${id}/logs?skip=${skip}&limit=100`, { headers })).json(),
    ),
  )
  expect(logs().map(frame => JSON.parse(frame.data))).toEqual(
    pages.flatMap(page => (page as { logs: unknown[] }).logs),
  )
}, 60_000)
