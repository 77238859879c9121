// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { appendFileSync, readdirSync, rmSync, utimesSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import { ensureSystemUsers } from '../../../src/system/users.ts'
import { sweepEnvironments } from '../../../src/worker/setup/environments.ts'
import type { FakeResponse } from '../../model/fake-server.ts'
import { rows } from '../../start-app.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { type CodingApp, calls, makeRepository, shell, startCodingApp } from '../coding-app.ts'

let app: CodingApp
let script: FakeResponse[]
beforeAll(async () => {
  const files = {
    'package-lock.json': '{}\n',
    'count.js': 'export const one = 1\n',
    'tracked.txt': 'as it was\n',
  }
  app = await startCodingApp(() => script.shift() ?? { text: 'Done.' }, {}, makeRepository(files))
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(() => {
  script = []
})

const at = (path: string) => `/v1/organizations/${app.org_id}${path}`
const environments = () => at(`/repos/${app.repo_id}/environments`)
const list = async () => (await app.call('GET', environments())).body.items as any[]
const folders = () => readdirSync(join(app.data_dir, 'templates')).filter(name => /^\d+-env-/.test(name))
const setUpBy = async (commands: string[], more: Record<string, unknown> = {}) =>
  expect(
    (await app.call('PUT', at(`/repos/${app.repo_id}/setup-commands`), { commands, ...more })).status,
  ).toBe(200)
const INSTALL =
  'mkdir -p lib; echo "$RANDOM$RANDOM" >lib/made; cp lib/made ~/made; echo "set up" >>tracked.txt; chmod 0 lib/made; chmod 400 lib/made'

/** The outcome of a run: how it was set up, and the output of its one command. */
async function work(command: string, body: Record<string, unknown> = {}) {
  script = [calls(shell(command)), { text: 'Done.' }]
  const { id } = await createRun(app, { prompt: 'work', ...body })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  expect(run, JSON.stringify(logs.slice(-2))).toMatchObject({ status: 'completed' })
  const of = (name: string) => logs.filter(entry => entry.tool_name === name)
  return {
    id,
    run,
    logs,
    set_up: of('setup_command').map(
      ({ tool_input }) => `${tool_input.for ? `${tool_input.for}: ` : ''}${tool_input.command}`,
    ),
    environments: of('environment').map(({ tool_input, tool_output }) => ({ ...tool_input, ...tool_output })),
    output: of('shell')[0].tool_output.output as string,
  }
}

test('the second run reuses the environment of the first, sees nothing of what its agent did, and names the environment', async () => {
  await setUpBy([INSTALL])
  const show_files = 'cat lib/made ~/made; git status --porcelain; ls; ls ~'
  const one = await work(`${show_files}; rm -r lib; echo mine >~/made; echo mine >mine.txt`)
  const two = await work(`${show_files}; echo mine >mine.txt`)
  const [made] = await list()
  expect([one.set_up.length, two.set_up, two.output.replace(/\S*\n/, '')]).toEqual([
    1,
    [],
    one.output.replace(/\S*\n/, ''),
  ])
  expect(two.output).toBe(one.output)
  for (const { logs } of [one, two])
    expect(logs.filter(entry => entry.tool_name === 'git_clone')).toHaveLength(1)
  expect(one.output).toMatch(/^(\d+)\n\1\n M tracked.txt\n/)
  expect(one.environments).toMatchObject([{ id: made.id, made: true, kept: true, age_seconds: 0 }])
  expect(two.environments).toMatchObject([
    {
      id: made.id,
      made: false,
      digest: made.digest,
      made_by_run: one.id,
      at_commit: made.base_sha,
      maintained: false,
    },
  ])
  expect(made).toMatchObject({ uses: 2, base_ref: 'main', made_by_run: one.id, repo_id: app.repo_id })
  const started = (await app.call('GET', at(`/agent/run/${two.id}/startup`))).body
  expect(started.environment).toMatchObject({ id: made.id, made: false })
  for (const part of [
    'queue',
    'claim',
    'mirror',
    'clone',
    'setup',
    'sandbox',
    'first_model_byte',
    'first_action',
  ])
    expect(started[`${part}_ms`], part).toBeGreaterThanOrEqual(0)
  expect(started.first_action_ms).toBeGreaterThanOrEqual(started.first_model_byte_ms)
  const { environment } = (await app.call('POST', at('/agent/run?dry_run=true'), { prompt: 'x' })).body
  expect(environment.setup).toMatchObject({
    commands: 1,
    state: 'prepared',
    environment_id: made.id,
    at_base_sha: true,
  })
  expect(environment.startups).toMatchObject({ runs: 2 })
  // As without an environment, files that the setup created are not part of the change, and files that it
  // modified are.
  for (const { run } of [one, two])
    expect(app.git('diff', '--name-only', 'main', run.branch)).toBe('mine.txt\ntracked.txt\n')
  // A later turn continues with its own files.
  script = [calls(shell('cat ~/made mine.txt; ls lib')), { text: 'Again.' }]
  await app.call('POST', at(`/agent/run/${one.id}/resume`), { prompt: 'again' })
  await awaitEnd(app, one.id)
  expect(
    (await allLogs(app, one.id)).findLast(entry => entry.tool_name === 'shell').tool_output.output,
  ).toMatch(/^mine\nmine\n.*No such/)
})

test('another commit with the same manifests gets the same environment, its own files, and repeats the steps that must run again; other manifests get their own', async () => {
  await setUpBy(['mkdir -p lib; cp *.js lib/built; echo first >lib/kept'], {
    maintenance_commands: ['cp *.js lib/built'],
  })
  const one = await work('cat lib/built')
  appendFileSync(join(app.repository, 'count.js'), 'export const two = 2\n')
  app.git('commit', '--quiet', '-am', 'two')
  const two = await work(
    'cat lib/built lib/kept; git status --porcelain; git log -1 --format=%s; git diff HEAD~1 --stat | tail -1',
  )
  expect(two.set_up).toEqual(['maintenance: cp *.js lib/built'])
  expect(two.output).toBe(
    'export const one = 1\nexport const two = 2\nfirst\ntwo\n 1 file changed, 1 insertion(+)\n',
  )
  expect(two.environments).toMatchObject([{ id: one.environments[0].id, made: false, maintained: true }])
  const stateOf = async () =>
    (await app.call('POST', at('/agent/run?dry_run=true'), { prompt: 'x' })).body.environment.setup
  expect(await stateOf()).toMatchObject({ state: 'prepared', at_base_sha: false })
  writeFileSync(join(app.repository, 'package-lock.json'), '{"changed":true}\n')
  app.git('commit', '--quiet', '-am', 'lock')
  // The environment is chosen by the commit in the mirror, which is fetched in parallel.
  await expect
    .poll(stateOf)
    .toMatchObject({ commands: 1, state: 'to_be_prepared', environment_id: null, made_at: null })
  const three = await work('cat lib/built')
  expect([three.set_up.length, three.environments]).toMatchObject([1, [{ made: true }]])
})

test('a branch uses the environment of the default branch, but the default branch never uses that of a branch', async () => {
  await setUpBy(['echo "$(cat *.js | wc -l)" >made'])
  app.git('branch', 'feature')
  const feature = await work('cat made', { base_ref: 'feature' })
  const main = await work('cat made')
  expect([feature.environments[0].made, main.environments[0].made]).toEqual([true, true])
  app.git('branch', 'later')
  expect((await work('cat made', { base_ref: 'later' })).environments).toMatchObject([
    { id: main.environments[0].id, made: false },
  ])
  // Unless its setup commands differ.
  await setUpBy(['sh prepare.sh'])
  const commit = (text: string, branch: string) => {
    app.git('checkout', '--quiet', branch)
    writeFileSync(join(app.repository, 'prepare.sh'), text)
    app.git('add', '.')
    app.git('commit', '--quiet', '-m', branch)
    app.git('checkout', '--quiet', 'main')
  }
  commit('echo main >made', 'main')
  commit('echo later >made', 'later')
  expect([(await work('cat made')).output, (await work('cat made', { base_ref: 'later' })).output]).toEqual([
    'main\n',
    'later\n',
  ])
})

test('an environment of commits that a force-push removed is not used for other runs on the branch', async () => {
  const commit = (text: string) => {
    writeFileSync(join(app.repository, 'who.txt'), text)
    app.git('add', '.')
    app.git('commit', '--quiet', '-m', text)
  }
  commit('taken out\n')
  await setUpBy(['true'])
  const one = await work('cat who.txt')
  app.git('reset', '--quiet', '--hard', 'HEAD~1')
  commit('in its place\n')
  await setUpBy(['cp who* made'])
  script = [calls(shell('cat made')), { text: 'Done.' }]
  const last = one.logs.findLast(entry => entry.tool_name === 'shell')
  const { id } = (await app.call('POST', at('/agent/run/fork'), { agent_run_id: one.id, from_seq: last.seq }))
    .body
  await awaitEnd(app, id)
  const [made] = (await allLogs(app, id)).filter(entry => entry.tool_name === 'environment')
  expect(made.tool_output).toMatchObject({ made: true, at_commit: one.run.base_sha })
  const two = await work('cat made')
  expect([two.output, two.environments[0].made]).toEqual(['in its place\n', true])
})

test('files that were changed outside the service are never used: the environment is recreated, and the trace reports it', async () => {
  await setUpBy(['mkdir lib; echo good >lib/made; echo good >~/made; touch -d 2020-01-01 lib/made'])
  await work('true')
  const [before] = await list()
  const [template] = (
    await rows<{ template: string }>(app, 'select template from environments where id = $1', [before.id])
  ).map(row => row.template)
  const poisoned = join(app.data_dir, 'templates', template ?? '', 'tree', 'lib', 'made')
  writeFileSync(poisoned, 'evil\n')
  utimesSync(poisoned, new Date('2020-01-01'), new Date('2020-01-01'))
  const next = await work('cat lib/made ~/made')
  expect(next.output).toBe('good\ngood\n')
  expect(next.environments).toMatchObject([
    { status: 'error', id: before.id },
    { made: true, kept: true },
  ])
  expect((await list()).map(({ id }) => id)).not.toContain(before.id)
})

test('a dropped or expired environment is recreated', async () => {
  await setUpBy(['echo x >made'])
  const one = await work('true')
  const id = one.environments[0].id
  expect(await app.call('DELETE', `${environments()}/${id}`)).toMatchObject({
    status: 200,
    body: { dropped: 1 },
  })
  const two = await work('true')
  expect(two.environments).toMatchObject([{ made: true }])
  await rows(app, `update environments set made_at = made_at - interval '25 hours' where id = $1`, [
    two.environments[0].id,
  ])
  expect((await work('true')).environments).toMatchObject([{ made: true, kept: true }])
  expect((await app.call('DELETE', environments())).body.dropped).toBeGreaterThan(0)
  expect(await list()).toEqual([])
})

test('a dry run predicts whether the run would be set up: with other secrets, or when the environment is too old', async () => {
  await setUpBy(['echo "$TOKEN_OF_REGISTRY" | wc -c >made'])
  const state = async () =>
    (await app.call('POST', at('/agent/run?dry_run=true'), { prompt: 'x' })).body.environment.setup.state
  const secret = at(`/repos/${app.repo_id}/secrets/TOKEN_OF_REGISTRY`)
  const work_and_check = async () => [
    await state(),
    (await work('cat made')).environments[0].made,
    await state(),
  ]
  expect(await work_and_check()).toEqual(['to_be_prepared', true, 'prepared'])
  expect((await app.call('PUT', secret, { value: 'a-first-long-value' })).status).toBeLessThan(300)
  expect(await work_and_check()).toEqual(['to_be_prepared', true, 'prepared'])
  expect((await app.call('DELETE', secret)).status).toBeLessThan(300)
  expect(await work_and_check()).toEqual(['prepared', false, 'prepared'])
  await rows(app, `update environments set made_at = made_at - interval '25 hours'`)
  expect(await work_and_check()).toEqual(['to_be_prepared', true, 'prepared'])
})

test('runs that start together execute the setup once; a failed setup is not stored', async () => {
  await setUpBy(['echo x >made; sleep 1'])
  const together = await Promise.all(Array.from({ length: 3 }, () => createRun(app, { prompt: 'work' })))
  for (const { id } of together) await awaitEnd(app, id)
  const logs = await Promise.all(together.map(({ id }) => allLogs(app, id)))
  expect(logs.flat().filter(entry => entry.tool_name === 'setup_command')).toHaveLength(1)

  await setUpBy(['echo x >made', 'exit 3'], { on_failure: 'continue' })
  const before = (await list()).length
  const [one, two] = [await work('cat made'), await work('cat made')]
  expect([one.output, two.output, one.set_up.length, two.set_up.length]).toEqual(['x\n', 'x\n', 2, 2])
  expect(one.environments).toMatchObject([{ id: null, made: true, kept: false }])
  expect((await list()).length).toBe(before)
})

test('files of an unused environment are removed, the least recently used first, together with their rows', async () => {
  await setUpBy(['head -c 2000000 /dev/urandom >made'])
  await work('true')
  await setUpBy(['head -c 2000001 /dev/urandom >made'])
  await work('true')
  const [last, before] = await list()
  expect(last.bytes).toBeGreaterThan(2_000_000)
  const paths = {
    root: join(app.data_dir, 'templates'),
    workspaces: join(app.data_dir, 'workspaces'),
    user: ensureSystemUsers().sandbox,
  }
  const sweep = () =>
    sweepEnvironments(
      { db: app.db, folders: paths, folder_id: last.machine, max_age_seconds: 1_000 },
      3_000_000,
    )
  const environmentOf = async ({ id }: { id: number }) =>
    (await rows<{ template: string }>(app, 'select template from environments where id = $1', [id]))[0]
      ?.template
  const [newest, older] = [await environmentOf(last), await environmentOf(before)]
  await sweep()
  expect(folders()).toEqual(expect.arrayContaining([newest, older]))
  for (const name of readdirSync(paths.workspaces)) rmSync(join(paths.workspaces, name), { recursive: true })
  await sweep()
  expect(folders()).toEqual([newest])
  expect((await list()).map(({ id }) => id)).toEqual([last.id])
  expect(before.id).not.toBe(last.id)
})

test('without environments every run executes its own setup', async () => {
  await using off = await startCodingApp(() => ({ text: 'Done.' }), { AGENTRUN_ENVIRONMENT_BYTES: '0' })
  const path = `/v1/organizations/${off.org_id}/repos/${off.repo_id}`
  await off.call('PUT', `${path}/setup-commands`, { commands: ['echo x >made'] })
  for (let n = 0; n < 2; n++) {
    const { id } = await createRun(off, { prompt: 'work' })
    await awaitEnd(off, id)
    expect((await allLogs(off, id)).map(entry => entry.tool_name)).toContain('setup_command')
  }
  expect((await off.call('GET', `${path}/environments`)).body.items).toEqual([])
})
