import { randomBytes } from 'node:crypto'
import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { FakeScript } from '../model/fake-server.ts'
import { allLogs, awaitEnd, createRun } from '../runs/await-run.ts'
import { type CodingApp, calls, shell, startCodingApp } from '../runs/coding-app.ts'
import { rows } from '../start-app.ts'
import { type Collector, startCollector } from '../telemetry/otlp-collector.ts'
import { type Receiver, startReceiver } from '../webhooks/receiver.ts'
import { setHook, untilDeliveries } from '../webhooks/webhook-app.ts'
import { formsIn } from './forms.ts'

const VALUE = `elsewhere${randomBytes(12).toString('hex')}`
let collector: Collector
let receiver: Receiver
let app: CodingApp
let script: Awaited<ReturnType<FakeScript>>[] = []
beforeAll(async () => {
  collector = await startCollector()
  receiver = await startReceiver()
  app = await startCodingApp(() => script.shift() ?? { text: `Done with ${VALUE}.` }, {
    OTEL_EXPORTER_OTLP_ENDPOINT: collector.url,
    OTEL_BSP_SCHEDULE_DELAY: '100',
    AGENTRUN_ALLOW_PRIVATE_EGRESS: '1',
    AGENTRUN_CHECKPOINT_FILE_MAX_BYTES: '1048576',
  })
  await setHook(app, receiver.url)
  await app.call('PUT', `/v1/organizations/${app.org_id}/secrets/VALUE`, { value: VALUE, for_agent: true })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
  await collector[Symbol.asyncDispose]()
})

async function run(...responses: Awaited<ReturnType<FakeScript>>[]) {
  script = responses
  const { id } = await createRun(app, { prompt: `Do it with ${VALUE}.` })
  const ended = await awaitEnd(app, id)
  return { id, ended, logs: await allLogs(app, id) }
}

/**
 * Where the value occurs, of all locations that data of a run goes to; packs hold the files of a run as they
 * are, next to the name of their branch.
 */
async function found(id: number): Promise<string[]> {
  const at = `/v1/organizations/${app.org_id}`
  const paths = [
    `/agent/run/${id}`,
    `/agent/run/${id}/diff`,
    `/agent/run/${id}/recovery`,
    '/prs',
    '/audit-log',
    '/agent/runs',
  ]
  const responses = await Promise.all(
    paths.map(async path => [path, JSON.stringify((await app.call('GET', at + path)).body)] as const),
  )
  await untilDeliveries(
    app,
    all => all.every(({ state }) => state !== 'pending') && all.length > 0,
    `?agent_run_id=${id}`,
  )
  await collector.until(
    span => span.name === 'invoke_agent built_in' && span.attributes['gen_ai.conversation.id'] === String(id),
  )
  const tables = await rows<{ name: string }>(
    app,
    `select tablename as name from pg_tables where schemaname = 'public'`,
  )
  const dump = await Promise.all(
    tables.map(
      async ({ name }) =>
        [
          name,
          JSON.stringify(
            await rows(app, `select (to_jsonb(t) - 'branch' - $1)::text from ${name} t`, [
              name === 'checkpoint_packs' ? 'content' : '',
            ]),
          ),
        ] as const,
    ),
  )
  const texts: (readonly [string, string])[] = [
    ...responses,
    ...dump,
    ['trace', JSON.stringify(await allLogs(app, id))],
    ['spans', Buffer.concat(collector.received).toString('latin1')],
    ['webhooks', JSON.stringify(receiver.received)],
    ['log', JSON.stringify(app.logs)],
    ['remote', app.git('log', '--all', '--format=raw', '--patch', '-m', '--text') + app.git('for-each-ref')],
  ]
  return texts.flatMap(([source, text]) => formsIn(text, VALUE).map(form => `${source}: ${form}`))
}

test('E137: a value that names a tool, a branch, a plan, a file and an answer is in no span, webhook, log, row, branch or pull request', async () => {
  const { id, ended, logs } = await run(
    calls(
      { name: `tool-${VALUE}`, arguments: { [VALUE]: 1 } },
      { name: 'plan', arguments: { items: [{ text: `use ${VALUE}`, state: 'doing' }] } },
    ),
    calls(
      shell(
        `git checkout -q -b "b-$VALUE"; git tag "t-$VALUE"; head -c 2M /dev/urandom >"big-$VALUE"; git remote add "r-$VALUE" https://x/; ls`,
      ),
    ),
    calls(
      { name: 'read', arguments: { path: `big-${VALUE}` } },
      shell(`rm -f "big-$VALUE"; echo fine >fine.txt; git branch --show-current; exit 3`),
    ),
  )
  expect(ended, JSON.stringify(logs.at(-1))).toMatchObject({
    status: 'completed',
    github_pull_requests: [expect.anything()],
  })
  expect(JSON.stringify(logs)).toContain('[redacted:VALUE]')
  expect(await found(id)).toEqual([])
})

test('E137: a value in an error message of a model server, or of the remote, is stored nowhere either', async () => {
  const hook = join(app.repository, '.git', 'hooks', 'pre-receive')
  writeFileSync(hook, `#!/bin/sh\necho "no: ${VALUE}" >&2\nexit 1\n`, { mode: 0o755 })
  const error = { message: `bad tool ${VALUE}`, type: VALUE, code: VALUE }
  const refused = await run(calls(shell('echo x >y.txt')))
  expect(JSON.stringify(refused.logs)).toContain('no: [redacted:VALUE]')
  expect(await found(refused.id)).toEqual([])
  const failed = await run({ status: 400, body: { error } })
  expect(failed.ended.status).toBe('failed')
  expect(await found(failed.id)).toEqual([])
})

test('E137: a file that is too large to be kept is named without the value in its name, when the run continues from what was kept', async () => {
  const { id, ended } = await run(
    calls(shell('head -c 2M /dev/urandom >"left-$VALUE"; echo kept >kept.txt')),
    calls(shell('ls')),
  )
  expect(ended.error).toMatchObject({ code: 'secret_in_commit' })
  const kept = await rows<{ left_out: string }>(
    app,
    'select left_out from checkpoints where run_id = $1 and left_out is not null',
    [id],
  )
  expect(kept.length).toBeGreaterThan(0)
  expect(await found(id)).toEqual([])
})
