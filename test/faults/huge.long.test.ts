import { monitorEventLoopDelay } from 'node:perf_hooks'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { Statement } from '../../src/store/database.ts'
import { listEntries } from '../../src/store/runs/log-entries.ts'
import { tokenCalls } from '../api/contract/every-endpoint.ts'
import { allLogs, awaitEnd, createRun } from '../runs/await-run.ts'
import { type CodingApp, calls, startCodingApp } from '../runs/coding-app.ts'

let app: CodingApp
const values: Record<string, string> = {
  deep: '{"command":"true","x":'.concat('['.repeat(100_000), ']'.repeat(100_000), '}'),
  wide: `{"command":"true",${Array.from({ length: 200_000 }, (_, i) => `"k${i}":1`).join()}}`,
  integers: '{"command":"true","timeout_seconds":123456789012345678901234567890,"x":1e999}',
  proto: '{"command":"true","__proto__":{"polluted":true},"constructor":{"prototype":{"polluted":true}}}',
  characters: JSON.stringify({ command: 'true', x: '\u0000\ud800\ufeff\u2028\u001b[31m' }).replace(
    '\\ud800',
    '\\ud800',
  ),
}
beforeAll(async () => {
  app = await startCodingApp(({ body }) => {
    const messages = JSON.stringify(body.messages)
    const wanted = /arguments: (\w+)/.exec(messages)?.[1] ?? ''
    return messages.includes('"role":"tool"')
      ? { text: 'Done.' }
      : {
          ...calls({ name: wanted === 'file' ? 'write' : 'shell', arguments: values[wanted] ?? '{}' }),
          split: 65_536,
        }
  })
})
afterAll(() => app?.[Symbol.asyncDispose]())

test('fault 41: the last page of 100,000 entries reads as little of the table as the first', async () => {
  const { id } = await createRun(app, { prompt: 'x', repo_id: null, repoless: true })
  await awaitEnd(app, id)
  const count = 100_000
  await app.db.query({ text: 'alter table log_entries disable trigger user' })
  const { total_logs } = (await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}`)).body
  for (let from = total_logs + 1; from <= count; from += 10_000)
    await app.db.query({
      text: `insert into log_entries (organization_id, run_id, seq, turn, message_type, tool_name, body)
        select organization_id, run_id, n, turn, message_type, tool_name,
          replace(body, '"seq":1,', '"seq":' || n || ',')
        from log_entries, generate_series($2::int, least($2 + 9999, $3)) as n
        where run_id = $1 and seq = 1`,
      values: [id, from, count],
    })
  await app.db.query({ text: 'update runs set total_logs = $2 where id = $1', values: [id, count] })
  await app.db.query({ text: 'analyze log_entries' })
  const page = async (skip: number) =>
    (await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}/logs?skip=${skip}&limit=100`))
      .body
  const last = await page(count - 100)
  expect(last).toMatchObject({ total_logs: count, pages: count / 100, page: count / 100 })
  expect(last.logs.map((entry: { seq: number }) => entry.seq)).toEqual(
    Array.from({ length: 100 }, (_, i) => count - 99 + i),
  )

  const blocks = async (from: number) => {
    const requested: Statement[] = []
    const query = (statement: Statement) => {
      requested.push(statement)
      return app.db.query(statement)
    }
    const spy = { query } as never
    await listEntries(spy, app.org_id, id, from, from + 99)
    const explained = {
      text: `explain (analyze, buffers, format json) ${requested[0]?.text}`,
      values: requested[0]?.values ?? [],
    }
    const { rows } = await app.db.query<{ 'QUERY PLAN': { Plan: Record<string, number> }[] }>(explained)
    const plan = rows[0]?.['QUERY PLAN'][0]?.Plan ?? {}
    return (plan['Shared Hit Blocks'] ?? 0) + (plan['Shared Read Blocks'] ?? 0)
  }
  expect(await blocks(count - 99)).toBeLessThan(4 * (await blocks(1)) + 10)
}, 60_000)

test.each(Object.keys(values))(
  'faults 44 to 46: a model that sends arguments that are %s gets a result, the trace is JSON that strict parsers accept, and the run ends',
  async name => {
    const { id } = await createRun(app, { prompt: `arguments: ${name}` })
    expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Done.' })
    const logs = await allLogs(app, id)
    expect(JSON.stringify(logs).length).toBeLessThan(200_000)
    expect(JSON.stringify(logs).isWellFormed()).toBe(true)
    expect(logs.find(entry => entry.tool_name === 'shell')).toMatchObject({
      message_type: 'ACTION',
      tool_output: { status: expect.any(String) },
    })
    expect(({} as Record<string, unknown>).polluted).toBeUndefined()
    expect(app.logs.filter(line => line.level === 'error')).toEqual([])
  },
)

test('fault 42: a tool call with 400 kB of arguments shows their beginning and end, and has its whole effect', async () => {
  values.file = JSON.stringify({
    path: 'big.txt',
    content: `first line\n${'x'.repeat(400_000)}\nlast line\n`,
  })
  const { id } = await createRun(app, { prompt: 'arguments: file' })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    github_pull_requests: [{ files_changed: 1 }],
  })
  const { tool_input, truncated } = (await allLogs(app, id)).find(entry => entry.tool_name === 'write')
  expect(tool_input.content.length).toBeLessThan(100_000)
  expect(tool_input.content).toMatch(/^first line\n[\s\S]*\nlast line\n$/)
  expect(truncated).toBe(true)
  const run = (await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}`)).body
  expect(app.git('cat-file', '-s', `${run.branch}:big.txt`).trim()).toBe(
    String(400_000 + 'first line\n\nlast line\n'.length),
  )
})

test('fault 51: no text of any operation blocks the process, however it is built', async () => {
  const { id } = await createRun(app, { prompt: 'x', repo_id: null, repoless: true })
  await awaitEnd(app, id)
  const evil = [
    `${'a'.repeat(100_000)}!`,
    `${' '.repeat(100_000)}x`,
    '\n'.repeat(100_000),
    `${'a@'.repeat(50_000)}`,
    `${'../'.repeat(33_000)}`,
    '.'.repeat(66_000),
    `${'```playbook\n'.repeat(8_000)}`,
    `https://${'a.'.repeat(50_000)}`,
    `${'<'.repeat(50_000)}${'-'.repeat(50_000)}`,
  ]
  const ids = {
    org_id: app.org_id,
    run_id: id,
    repo_id: app.repo_id,
    user_id: app.user_id,
    pr_id: 1,
    artifact_id: 1,
  }
  const delay = monitorEventLoopDelay({ resolution: 10 })
  delay.enable()
  for (const call of tokenCalls(ids)) {
    if (call.body === undefined) continue
    for (const [key, value] of Object.entries(call.body)) {
      if (typeof value !== 'string') continue
      const responses = await Promise.all(
        evil.map(text => app.call(call.method, call.path, { ...call.body, [key]: text })),
      )
      for (const response of responses) expect(response.status, `${call.name} ${key}`).toBeLessThan(500)
    }
  }
  delay.disable()
  expect(delay.max / 1e6).toBeLessThan(2_000)
}, 60_000)
