import { afterAll, beforeAll, expect, test } from 'vitest'
import { Database } from '../../src/store/database.ts'
import { DatabaseProxy } from '../api/database/database-proxy.ts'
import { createTestDatabase } from '../database.ts'
import { allLogs, awaitEnd, createRun, followRun } from '../runs/await-run.ts'
import { type CodingApp, calls, shell, startCodingApp } from '../runs/coding-app.ts'
import { sandboxProcesses } from '../runs/sandboxes/sandbox-processes.ts'
import { rows } from '../start-app.ts'

const stack = new AsyncDisposableStack()
let proxy: DatabaseProxy
let app: CodingApp
beforeAll(async () => {
  const { url } = stack.use(await createTestDatabase())
  proxy = stack.use(new DatabaseProxy(url))
  await proxy.up()
  app = stack.use(
    await startCodingApp(
      ({ body }) => {
        const messages = JSON.stringify(body.messages)
        if (messages.includes('it may or may not have completed')) return { text: 'Went on.' }
        return messages.includes('"role":"tool"')
          ? { text: 'Done.' }
          : calls(shell(/run: ([^"]*)/.exec(messages)?.[1] ?? 'true'))
      },
      { DATABASE_URL: proxy.url },
    ),
  )
})
afterAll(() => stack.disposeAsync())

/** A run whose agent runs this command, when it runs. */
async function startCommand(command: string): Promise<number> {
  const { id } = await createRun(app, { prompt: `run: ${command}` })
  for await (const { event } of followRun(app, id)) if (event === 'tool') break
  return id
}

/** The trace has no gap, and every call of a tool one outcome. */
async function traceOf(id: number) {
  const logs = await allLogs(app, id)
  expect(logs.map(entry => entry.seq)).toEqual(logs.map((_, i) => i + 1))
  const tools = logs.filter(entry => entry.tool_name === 'shell')
  expect(tools).toHaveLength(1)
  return { logs, outcome: tools[0].tool_output }
}

test('fault 11: a database that is away for less than a lease holds runs up and costs them nothing', async () => {
  const id = await startCommand('sleep 1; echo survived')
  await proxy.down()
  // Long enough for the command to end meanwhile: its outcome is what has to wait.
  await new Promise(resolve => setTimeout(resolve, 2_500))
  await proxy.up()
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Done.', turn: 1 })
  expect((await traceOf(id)).outcome).toMatchObject({ status: 'ok', output: 'survived\n' })
  expect(await rows(app, 'select losses from runs where id = $1', [id])).toEqual([{ losses: 0 }])
})

test('fault 11: one that is away for longer costs the owner the run: its sandbox ends, and the next owner continues from the journal', async () => {
  const id = await startCommand('echo once >> once.txt; sleep 12345')
  await proxy.down()
  while (sandboxProcesses(app.data_dir).length > 0) await new Promise(resolve => setTimeout(resolve, 100))
  await proxy.up()
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Went on.', turn: 1 })
  expect((await traceOf(id)).outcome).toMatchObject({ status: 'interrupted' })
  expect(await rows(app, 'select losses from runs where id = $1', [id])).toEqual([{ losses: 1 }])
})

test('fault 13: requests that take every connection of the API take none of the workers: a run beside them keeps its lease', async () => {
  await using direct = new Database(app.database_url, { max: 1, on_error: () => {} })
  const { id } = await createRun(app, { prompt: 'run: sleep 7; echo kept', repo_id: null, repoless: true })
  for await (const { event } of followRun(app, id)) if (event === 'tool') break
  let crowded = true
  const request = async () => {
    while (crowded) await app.call('GET', `/v1/organizations/${app.org_id}/repos`)
  }
  await direct.transaction(async tx => {
    await tx.query({ text: 'lock table repositories' })
    const crowd = Array.from({ length: 60 }, request)
    await new Promise(resolve => setTimeout(resolve, 8_000))
    crowded = false
    await Promise.all(crowd)
  })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed', result: 'Done.' })
  expect((await traceOf(id)).outcome).toMatchObject({ status: 'ok', output: 'kept\n' })
  expect(await rows(app, 'select losses from runs where id = $1', [id])).toEqual([{ losses: 0 }])
})
