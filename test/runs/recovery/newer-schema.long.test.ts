import { cpSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { pathToFileURL } from 'node:url'
import { expect, test } from 'vitest'
import { migrate } from '../../../src/store/migrate.ts'
import { createTestDatabase } from '../../database.ts'
import { startApp, TOKEN } from '../../start-app.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { awaitEnd, createRun } from '../await-run.ts'
import { startServiceProcess } from './service-process.ts'

/** What the next version might add: to tables that every run writes, with indexes and a table of its own. */
const expansion = `-- What comes next.
alter table runs add column of_next text, add column counted_next int not null default 0;
alter table log_entries add column of_next text;
alter table journal add column of_next text not null default '';
alter table tokens add column of_next text;
alter table pull_requests add column of_next text;
create table of_next (organization_id bigint not null, id bigint generated always as identity, primary key (organization_id, id));
create index runs_of_next on runs (of_next) where of_next is not null;
`

async function migrateFurther(database_url: string, folder: string, sql: string) {
  cpSync(new URL('../../../src/store/migrations', import.meta.url), folder, { recursive: true })
  writeFileSync(join(folder, '9999_next.sql'), sql)
  await migrate(database_url, { folder: pathToFileURL(`${folder}/`) })
}

/** The whole life of a run over HTTP: created, streamed to its end, its trace and its pull request. */
async function playSample(base_url: string) {
  // biome-ignore lint/suspicious/noExplicitAny: responses are read without types
  const call = async (method: string, path: string, body?: unknown): Promise<any> => {
    const response = await fetch(`${base_url}/v1${path}`, {
      method,
      headers: {
        authorization: `Bearer ${TOKEN}`,
        ...(body !== undefined && { 'content-type': 'application/json' }),
      },
      ...(body !== undefined && { body: JSON.stringify(body) }),
    })
    const result = await response.json()
    expect({ path, status: response.status, answer: result }).toMatchObject({ status: 200 })
    return result
  }
  const { items } = await call('GET', '/organizations')
  const runs = `/organizations/${items[0].id}/agent/run`
  const prompt =
    'Play this.\n\n```playbook\n- run: echo more >> README.md\n- ask: Enough?\n- answer: Done.\n```\n'
  const { id } = await call('POST', runs, { prompt })
  const until = async (name: string) => {
    const response = await fetch(`${base_url}/v1${runs}/${id}/events`, {
      headers: { authorization: `Bearer ${TOKEN}` },
    })
    let text = ''
    for await (const chunk of response.body?.pipeThrough(new TextDecoderStream()) ?? []) {
      text += chunk
      if (text.includes(`"status":"${name}"`)) return
    }
    throw new Error(`the stream ended before the run was ${name}`)
  }
  await until('waiting')
  await call('POST', `${runs}/resume`, { agent_run_id: id, prompt: 'Yes.' })
  await until('completed')
  const { logs } = await call('GET', `${runs}/${id}/logs`)
  expect(logs.at(-1)).toMatchObject({ message_type: 'FINAL_ANSWER', observation: 'Done.' })
  const run = await call('GET', `${runs}/${id}`)
  expect(run.github_pull_requests).toHaveLength(1)
  await call('POST', `/organizations/${items[0].id}/prs/${run.github_pull_requests[0].id}/merge`, {})
}

test('code of the previous version starts on a schema that only adds, and works completely', async () => {
  await using database = await createTestDatabase()
  using folder = temporaryFolder()
  await migrateFurther(database.url, join(folder.path, 'migrations'), expansion)
  const service = await startServiceProcess({
    DATABASE_URL: database.url,
    AGENTRUN_DATA_DIR: join(folder.path, 'data'),
    AGENTRUN_INIT_TOKEN: TOKEN,
  })
  try {
    await playSample(service.base_url)
  } finally {
    service.child.kill('SIGTERM')
  }
  expect((await service.ended).code).toBe(0)
})

test('an incompatible schema is refused at the start, in one line that names the migration', async () => {
  await using database = await createTestDatabase()
  using folder = temporaryFolder()
  await migrateFurther(
    database.url,
    join(folder.path, 'migrations'),
    '-- contract\nalter table runs drop column source_type;\n',
  )
  const service = await startServiceProcess({
    DATABASE_URL: database.url,
    AGENTRUN_DATA_DIR: join(folder.path, 'data'),
  })
  const { code, output } = await service.ended
  expect({ code, output: output.trim() }).toEqual({
    code: 1,
    output:
      'cannot start: the database contains migration 9999_next.sql, which this version cannot run on: start a newer version',
  })
})

test('a running service is not affected when a newer version migrates its schema', async () => {
  await using app = await startApp()
  using folder = temporaryFolder()
  const prompt = 'Play this.\n\n```playbook\n- run: echo one\n- answer: Done.\n```\n'
  const org = `/v1/organizations/${app.org_id}`
  // Every connection of the pool has prepared statements that return whole rows.
  const busy = async () => {
    const runs = await Promise.all(Array.from({ length: 6 }, () => createRun(app, { prompt })))
    const paths = runs.flatMap(({ id }) => [
      `/agent/run/${id}`,
      `/agent/run/${id}/logs`,
      '/agent/runs',
      '/tokens',
      '/repos',
      '/members',
    ])
    const responses = await Promise.all([...paths, ...paths].map(path => app.call('GET', org + path)))
    expect(responses.filter(result => result.status !== 200).map(result => result.body)).toEqual([])
    for (const { id } of runs) expect(await awaitEnd(app, id)).toMatchObject({ status: 'completed' })
  }
  await busy()
  await migrateFurther(app.database_url, join(folder.path, 'migrations'), expansion)
  await busy()
  expect(app.logs.filter(line => line.level === 'error')).toEqual([])
})
