import { chmodSync, mkdtempSync, realpathSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, expect, test, vi } from 'vitest'
import { Database } from '../../src/store/database.ts'
import { createTestDatabase } from '../database.ts'
import { allLogs, awaitEnd, createRun, followRun } from '../runs/await-run.ts'
import { calls, shell, startCodingApp } from '../runs/coding-app.ts'
import { startServiceProcess } from '../runs/recovery/service-process.ts'
import { rows, TOKEN } from '../start-app.ts'

const HOUR = 3_600_000
afterEach(() => void vi.useRealTimers())

test('fault 33: the clock of the process jumps by hours in both directions under runs: no lease, deadline or budget ends, entries stay in order, and the newest commit is found', async () => {
  await using app = await startCodingApp(({ body }) => {
    const messages = JSON.stringify(body.messages)
    return messages.includes('"role":"tool"')
      ? { text: 'Done.' }
      : calls(shell(/run: ([^"]*)/.exec(messages)?.[1] ?? 'true'))
  })
  vi.useFakeTimers({ toFake: ['Date'], shouldAdvanceTime: true, now: Date.now() })
  for (const [i, jump] of [2 * HOUR, -3 * HOUR].entries()) {
    writeFileSync(join(app.repository, `${i}.txt`), `commit ${i}\n`)
    app.git('add', '.')
    app.git('commit', '--quiet', '-m', `commit ${i}`)
    const { id } = await createRun(app, {
      prompt: `run: cat ${i}.txt; sleep 2; true`,
      budget: { max_wall_seconds: 60, max_active_seconds: 60 },
    })
    for await (const { event } of followRun(app, id)) if (event === 'tool') break
    vi.setSystemTime(Date.now() + jump)
    expect(await awaitEnd(app, id)).toMatchObject({
      status: 'completed',
      result: 'Done.',
      status_reason: null,
    })
    const logs = await allLogs(app, id)
    expect(logs.find(entry => entry.tool_name === 'shell').tool_output.output).toBe(`commit ${i}\n`)
    const times = logs.map(entry => entry.created_at)
    expect(times).toEqual(times.toSorted())
    for (const entry of logs) expect(entry.duration_ms ?? 0).toBeLessThan(60_000)
  }
  expect(await rows(app, 'select sum(losses) as losses, max(turn) as turns from runs')).toEqual([
    { losses: 0, turns: 1 },
  ])
})

test('fault 34: in any time zone, of process and database, every time is UTC, and days far ahead and seconds that are none are taken or refused', async () => {
  await using database = await createTestDatabase()
  {
    await using db = new Database(database.url, { max: 1, on_error: () => {} })
    await db.query({
      text: `do $$ begin execute format('alter database %I set timezone to ''Asia/Kathmandu''', current_database()); end $$`,
    })
  }
  const folder = realpathSync(mkdtempSync(join(tmpdir(), 'agentrun-zone-')))
  chmodSync(folder, 0o755)
  const env = {
    DATABASE_URL: database.url,
    AGENTRUN_DATA_DIR: join(folder, 'data'),
    AGENTRUN_INIT_TOKEN: TOKEN,
    TZ: 'Asia/Kathmandu',
  }
  const service = await startServiceProcess(env, 'serve')
  try {
    // biome-ignore lint/suspicious/noExplicitAny: responses are read without types
    const request = async (method: string, path: string, body?: unknown): Promise<any> => {
      const headers = { authorization: `Bearer ${TOKEN}`, 'content-type': 'application/json' }
      const response = await fetch(`${service.base_url}/v1/organizations/1${path}`, {
        method,
        headers,
        ...(body !== undefined && { body: JSON.stringify(body) }),
      })
      return { status: response.status, ...((await response.json()) as object) }
    }
    const run = await request('POST', '/agent/run', { prompt: 'when?', repo_id: null, repoless: true })
    const { logs } = await request('GET', `/agent/run/${run.id}/logs`)
    for (const time of [run.created_at, run.deadline_at, logs[0].created_at]) {
      expect(time).toMatch(/^\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z$/)
      expect(Math.abs(Date.parse(time) - Date.now())).toBeLessThan(25 * HOUR)
    }
    expect(Math.abs(Date.parse(run.created_at) - Date.now())).toBeLessThan(HOUR)
    const found = async (query: string) =>
      (await request('GET', `/agent/runs?${query}`)).items.map((item: { id: number }) => item.id)
    expect(
      await found(`created_after=${encodeURIComponent(new Date(Date.now() - HOUR).toISOString())}`),
    ).toEqual([run.id])
    expect(
      await found(`created_after=${encodeURIComponent(new Date(Date.now() + HOUR).toISOString())}`),
    ).toEqual([])
    expect(await found('created_before=2999-12-31T23%3A59%3A59Z')).toEqual([run.id])
    const leap = await request('GET', '/agent/runs?created_after=2016-12-31T23%3A59%3A60Z')
    expect([200, 400]).toContain(leap.status)
    const token = await request('POST', '/tokens', {
      name: 'far ahead',
      expires_at: '2100-02-28T23:59:59.999Z',
    })
    expect(token).toMatchObject({ status: 200, expires_at: '2100-02-28T23:59:59.999Z' })
    const { items } = await request('GET', '/usage')
    for (const item of items) expect(item.day ?? item.key).toBe(new Date().toISOString().slice(0, 10))
  } finally {
    service.child.kill('SIGTERM')
    await service.ended
    rmSync(folder, { recursive: true, force: true })
  }
}, 60_000)
