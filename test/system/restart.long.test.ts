import { once } from 'node:events'
import { createServer } from 'node:net'
import { join } from 'node:path'
import { afterEach, expect, test } from 'vitest'
import { createTestDatabase } from '../database.ts'
import { testFolder } from '../temporary-folder.ts'
import { program_env } from './program-env.ts'
import { real_main as real, superviseClone } from './supervisor/supervised-clone.ts'

const stack: AsyncDisposableStack[] = []
afterEach(async () => {
  for (const resources of stack.splice(0).reverse()) await resources.disposeAsync()
})

function start(main: string, env: Record<string, string> = {}, roles: string[] = []) {
  const started = superviseClone(main, env, roles)
  stack.push(started.resources)
  return started
}

test('a killed service is restarted by the supervisor, which reports it in one line, and serves again', async () => {
  const database = await createTestDatabase()
  const data = { AGENTRUN_DATA_DIR: join(testFolder(), 'data') }
  const started = start(real, {
    ...program_env,
    ...data,
    DATABASE_URL: database.url,
    AGENTRUN_PORT: '0',
    AGENTRUN_WORKER_CONCURRENCY: '0',
  })
  started.resources.use(database)
  await started.output(/Start a run/)
  process.kill(started.child(), 'SIGKILL')
  const line = await started.output(/agentrun: the API ended .*/)
  expect(line).toBe('agentrun: the API ended by signal SIGKILL; restart 1 of 10 in 1 s')
  await started.output(/Start a run/, 2)
  const address = await started.output(/ready: +(\S+)/, 2)
  expect((await fetch(`${address}/healthz`)).status).toBe(200)
  started.supervisor.kill('SIGTERM')
  expect(await started.closed).toEqual([0, null])
}, 60_000)

test('a service that was not ready yet ends with its own message and exit code: a wrong variable, a port in use', async () => {
  const wrong = start(real, { AGENTRUN_PORT: 'x' })
  expect(await wrong.closed).toEqual([1, null])
  expect(wrong.text()).toMatch(/cannot start: the configuration has 1 mistake/)
  const server = createServer()
  await once(server.listen(0, '127.0.0.1'), 'listening')
  const database = await createTestDatabase()
  const data = { AGENTRUN_DATA_DIR: join(testFolder(), 'data') }
  const port = String((server.address() as { port: number }).port)
  const taken = start(real, { ...program_env, ...data, DATABASE_URL: database.url, AGENTRUN_PORT: port })
  taken.resources.use(database)
  taken.resources.defer(() => void server.close())
  expect(await taken.closed).toEqual([1, null])
  expect(taken.text()).toMatch(/AGENTRUN_PORT \d+: another program uses this port \(EADDRINUSE\)/)
  expect(wrong.text() + taken.text()).not.toMatch(/restart/)
  // The start that failed created no token that nobody has seen: the next one does.
  const next = start(real, { ...program_env, ...data, DATABASE_URL: database.url, AGENTRUN_PORT: '0' })
  expect(await next.output(/token +in (.*);/)).toBe(join(data.AGENTRUN_DATA_DIR, 'initial-token'))
  next.supervisor.kill('SIGTERM')
  expect(await next.closed).toEqual([0, null])
}, 120_000)

/** A program that the supervisor starts as one process. */
const startOne = (main: string) => start(main, {}, ['serve'])
const reports = `import { appendFileSync, readFileSync, writeSync } from 'node:fs'
const report = line => writeSync(Number(process.env.SUPERVISOR_DESCRIPTOR), line + '\\n')
`
const counts = `${reports}
appendFileSync(process.env.COUNT_FILE, 'x')
const count = readFileSync(process.env.COUNT_FILE, 'utf8').length
`

test('a service that ends by itself, or fails to start after a crash, is started again after ever longer delays', async () => {
  const started = startOne(`${counts}
    if (count === 2) process.exit(1)
    report('ready')
    if (count === 1) process.exit(70)
    process.on('SIGTERM', () => process.exit(5))
    setInterval(() => {}, 1000)
    console.log('third')`)
  await started.output(/third/)
  expect(started.text().match(/agentrun: .*/g)).toEqual([
    'agentrun: the service ended by exit code 70; restart 1 of 10 in 1 s',
    'agentrun: the service ended by exit code 1; restart 2 of 10 in 2 s',
  ])
  started.supervisor.kill('SIGTERM')
  expect(await started.closed).toEqual([5, null])
}, 30_000)

test('a service whose event loop is stuck is killed and started again', async () => {
  const started = startOne(`${counts}
    process.on('SIGTERM', () => process.exit(0))
    report('alive 2')
    report('ready')
    while (count === 1);
    setInterval(() => report('alive 2'), 100)
    console.log('second')`)
  await started.output(/second/)
  expect(started.text().match(/agentrun: .*/g)).toEqual([
    'agentrun: the service is stuck: it stopped reporting and is killed',
    'agentrun: the service ended by signal SIGKILL; restart 1 of 10 in 1 s',
  ])
}, 30_000)

test('a graceful stop is not a crash, and a signal during the delay ends the supervisor immediately', async () => {
  expect(await startOne(`${reports}report('ready')`).closed).toEqual([0, null])
  const waiting = startOne(`${reports}report('ready'); process.kill(process.pid, 'SIGKILL')`)
  await waiting.output(/restart 1 of 10/)
  waiting.supervisor.kill('SIGTERM')
  expect(await waiting.closed).toEqual([143, null])
  expect(waiting.text().match(/restart/g)).toHaveLength(1)
}, 30_000)

test('a service whose supervisor is killed stops', async () => {
  const database = await createTestDatabase()
  const data = { AGENTRUN_DATA_DIR: join(testFolder(), 'data') }
  const started = start(real, {
    ...program_env,
    ...data,
    DATABASE_URL: database.url,
    AGENTRUN_PORT: '0',
    AGENTRUN_WORKER_CONCURRENCY: '0',
  })
  started.resources.use(database)
  await started.output(/Start a run/)
  started.supervisor.kill('SIGKILL')
  // Their pipes close when both have ended.
  expect(await started.closed).toEqual([null, 'SIGKILL'])
  expect(started.text()).toMatch(/stopping …/)
}, 60_000)
