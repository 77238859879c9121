import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { putRun } from '../api/runs/put-run.ts'
import { createRun } from '../runs/await-run.ts'
import { type App, startApp } from '../start-app.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { type CliOptions, runCli, runOnTerminal } from './run-cli.ts'

let app: App
let folder: ReturnType<typeof temporaryFolder>
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0' })
  folder = temporaryFolder()
})
afterAll(async () => {
  folder[Symbol.dispose]()
  await app[Symbol.asyncDispose]()
})

const with_token = () => ({ AGENTRUN_URL: app.base_url, AGENTRUN_TOKEN: app.token })
const cli = (args: string[], options: CliOptions = {}) =>
  runCli(args, { ...options, env: { ...with_token(), ...options.env } })
const at = (path: string) => `/v1/organizations/${app.org_id}/${path}`
const get = async (path: string) => (await app.call('GET', at(path))).body

describe('secrets', () => {
  test('are set from standard input, listed without their values and deleted, of the organization and of a repository', async () => {
    expect(
      await cli(['secrets', 'set', 'NPM_TOKEN', '--for-agent'], { input: 'a-secret-value\n' }),
    ).toMatchObject({
      code: 0,
      out: 'set: NPM_TOKEN\n',
    })
    expect((await cli(['secrets'])).out).toMatch(/^NAME +FOR +UPDATED\nNPM_TOKEN +agents +2/)
    expect((await get('secrets')).items).toMatchObject([{ name: 'NPM_TOKEN', for_agent: true }])
    await cli(['secrets', 'set', 'DEPLOY', '--repo', 'sample/invoice'], { input: 'another-value' })
    expect((await cli(['secrets', 'list', '--repo', 'sample/invoice'])).out).toMatch(/^DEPLOY +setup/m)
    expect(await cli(['secrets', 'delete', 'NPM_TOKEN'])).toMatchObject({
      code: 0,
      out: 'deleted: NPM_TOKEN\n',
    })
    expect(await cli(['secrets', 'set', 'EMPTY'])).toMatchObject({
      code: 1,
      err: 'agentrun: Value of EMPTY is empty\n',
    })
    expect(await cli(['secrets', 'set'])).toMatchObject({ code: 2 })
  })
})

test('MCP servers are set from JSON, of the organization and of a repository, listed and deleted', async () => {
  const file = join(folder.path, 'server.json')
  writeFileSync(file, JSON.stringify({ command: 'npx', args: ['-y', 'server'] }))
  expect((await cli(['mcp-servers'])).out).toBe('no MCP servers\n')
  expect((await cli(['mcp-servers', 'set', 'files', file])).out).toBe('set: files\n')
  expect((await cli(['mcp-servers', 'list'])).out).toBe(
    'NAME   STATE    SERVER\nfiles  enabled  npx -y server\n',
  )
  expect(JSON.parse((await cli(['mcp-servers', '--json'])).out).items).toEqual(
    (await get('mcp-servers')).items,
  )
  const disabled = { input: '{"url": "https://mcp.example.com", "enabled": false}' }
  expect((await cli(['mcp-servers', 'set', 'files', '-', '--repo', `${app.repo_id}`], disabled)).code).toBe(0)
  expect((await cli(['mcp-servers', '--repo', `${app.repo_id}`])).out).toContain(
    'files  disabled  https://mcp.example.com',
  )
  expect(await cli(['mcp-servers', 'set', 'files', '-'], { input: '{}' })).toMatchObject({
    code: 1,
    err: expect.stringContaining('command'),
  })
  expect(await cli(['mcp-servers', 'set', 'files', '-'], { input: '{' })).toMatchObject({
    code: 2,
    err: expect.stringContaining('is not a JSON object'),
  })
  expect((await cli(['mcp-servers', 'delete', 'files', '--repo', `${app.repo_id}`])).out).toBe(
    'deleted: files\n',
  )
  expect(await cli(['mcp-servers', 'sign-in', 'files'])).toMatchObject({
    code: 1,
    err: expect.stringContaining('set `sign_in` first'),
  })
  expect((await cli(['mcp-servers', 'delete', 'files'])).out).toBe('deleted: files\n')
})

describe('models', () => {
  test('are listed with prices, get keys, are added, tested and removed', async () => {
    expect(await cli(['models', 'key', 'anthropic'], { input: 'sk-0123456789\n' })).toMatchObject({
      code: 0,
      out: 'set: anthropic\n',
    })
    const listed = await cli(['models'])
    expect(listed.out).toMatch(/^anthropic\/claude-sonnet-5-5 +service +1,000,000 +2 in, 10 out$/m)
    expect(listed.err).toContain('anthropic key of the organization')
    const file = join(folder.path, 'model.json')
    writeFileSync(
      file,
      JSON.stringify({ id: 'acme/coder', api: 'openai-chat', base_url: 'https://models.invalid/v1' }),
    )
    expect(await cli(['models', 'set', file])).toMatchObject({ code: 0, out: 'set: acme/coder\n' })
    const tested = await cli(['models', 'test', 'acme/coder'])
    expect(tested).toMatchObject({ code: 1, out: expect.stringMatching(/^unavailable: /) })
    expect((await cli(['models', 'test', 'scripted/playbook'])).out).toMatch(
      /^ok: scripted\/playbook responded in \d+ ms$/m,
    )
    for (const which of ['acme/coder', 'anthropic'])
      expect((await cli(['models', 'remove', which])).out).toBe(`removed: ${which}\n`)
    expect((await cli(['models'])).out).not.toContain('anthropic/')
    expect(await cli(['models', 'key', 'other'], { input: 'x' })).toMatchObject({ code: 2 })
    expect(await cli(['models', 'set', '/nonexistent.json'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('cannot be read'),
    })
  })
})

describe('the organization', () => {
  test('settings are shown and changed, and none removes a limit', async () => {
    const rules = join(folder.path, 'rules.md')
    writeFileSync(rules, 'Every change has a test.')
    expect(
      (await cli(['settings', 'set', '--max-concurrent-runs', '3', '--budget', '12.5', '--rules', rules]))
        .out,
    ).toMatch(/^max_concurrent_runs +3$/m)
    expect(await get('settings')).toMatchObject({ max_concurrent_runs: 3, budget_usd_per_month: '12.5' })
    expect((await cli(['settings', 'set', '--agent-permissions', 'ask'])).out).toMatch(
      /^agent_permissions +ask$/m,
    )
    expect((await cli(['settings', 'set', '--approval-paths', 'infra/,*.sql'])).out).toMatch(
      /^approval_paths +infra\/,\*\.sql$/m,
    )
    expect(await cli(['settings', 'set', '--agent-permissions', 'never'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('agent_permissions'),
    })
    expect((await cli(['settings', 'set', '--agent-permissions', 'none'])).out).toMatch(
      /^agent_permissions +none$/m,
    )
    expect((await cli(['settings', 'set', '--branch-prefix', 'bots/'])).out).toMatch(
      /^branch_prefix +bots\/$/m,
    )
    expect((await cli(['settings', 'set', '--budget', 'none', '--json'])).code).toBe(0)
    expect(await get('settings')).toMatchObject({ max_concurrent_runs: 3, budget_usd_per_month: null })
    expect((await cli(['settings', 'limits'])).out).toMatch(
      /^concurrent_runs +3 runs +0 +organization +max_concurrent_runs$/m,
    )
    expect(await cli(['settings', 'set'])).toMatchObject({ code: 2 })
  })

  test('usage is a table, JSON or CSV', async () => {
    await createRun(app, { prompt: 'x' })
    const { out, err } = await cli(['usage', '--by', 'user'])
    expect(out).toMatch(/^USER +RUNS +SUCCESS/)
    expect(out).toMatch(/^total +\d+ +- +0 +\$0 +-$/m)
    expect(err).toMatch(/^this month: cost \$0, no limit; runs \d+, no limit$/m)
    expect((await cli(['settings', 'set', '--budget', '10'])).code).toBe(0)
    expect((await cli(['usage'])).err).toMatch(/^this month: cost \$0 of \$10; runs \d+, no limit$/m)
    expect((await cli(['settings', 'set', '--budget', 'none'])).code).toBe(0)
    expect((await cli(['usage', '--csv'])).out).toMatch(/^day,repo_id,.*\n\d{4}-\d\d-\d\d,/)
    expect(JSON.parse((await cli(['usage', '--json'])).out)).toMatchObject({ group_by: 'day' })
    expect(await cli(['usage', '--from', 'yesterday'])).toMatchObject({
      code: 1,
      err: expect.stringContaining('from'),
    })
  })

  test('the audit log is filtered', async () => {
    const { out } = await cli(['audit', '--action', 'secret.set', '--limit', '1'])
    expect(out).toMatch(/^TIME +BY +ACTION +TARGET +DETAIL\n2\S+ +user \d+ +secret\.set +DEPLOY/)
  })
})

describe('runs', () => {
  test('are renamed, archived, listed again and deleted, several at a time', async () => {
    const [one, two] = [
      (await createRun(app, { prompt: 'a' })).id as number,
      (await createRun(app, { prompt: 'b' })).id as number,
    ]
    expect((await cli(['rename', String(one), 'Better title', '--tag', 'x'])).out).toContain('Better title')
    expect(await get(`agent/run/${one}`)).toMatchObject({ title: 'Better title', tags: ['x'] })
    expect((await cli(['archive', String(one), String(two)])).out.trimEnd().split('\n')).toHaveLength(2)
    expect((await cli(['unarchive', String(two)])).code).toBe(0)
    expect([await get(`agent/run/${one}`), await get(`agent/run/${two}`)].map(run => run.archived)).toEqual([
      true,
      false,
    ])
    for (const id of [one, two]) await putRun(app, id, 'completed')
    expect(await cli(['delete', String(one)])).toMatchObject({ code: 2 })
    expect(await cli(['delete', String(one), String(two), '--yes'])).toMatchObject({
      code: 0,
      out: `deleted: run ${one}\ndeleted: run ${two}\n`,
    })
    expect(await cli(['rename', String(one)])).toMatchObject({ code: 2 })
  })
})

test('JSON is indented on a terminal, and one line elsewhere', async () => {
  const { out } = await runOnTerminal(['settings', '--json'], { env: with_token() })
  expect(out).toMatch(/^\{\r?\n {2}"/)
  expect((await cli(['settings', '--json'])).out.trimEnd().split('\n')).toHaveLength(1)
})
