import { chmodSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expectProblem } from '../../api/expect-problem.ts'
import { startGitServer } from '../../git/remotes/git-server.ts'
import { testFolder } from '../../temporary-folder.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import {
  type CodingApp,
  calls,
  finish,
  gitIn,
  makeRepository,
  responses,
  shell,
  startCodingApp,
} from '../coding-app.ts'

const write = calls(shell('echo two >> count.js'))
const at = (app: CodingApp) => `/v1/organizations/${app.org_id}`
const pushesOf = async (app: CodingApp, id: number) =>
  (await allLogs(app, id)).filter(entry => entry.tool_name === 'git_push')
const dryRun = async (app: CodingApp) =>
  (await app.call('POST', `${at(app)}/agent/run?dry_run=true`, { prompt: 'x' })).body
const setPrefix = (app: CodingApp, branch_prefix: string | null) =>
  app.call('PATCH', `${at(app)}/repos/${app.repo_id}`, { branch_prefix })

test('a repository with a branch that has the name of the folder gets a pull request from a branch without folders', async () => {
  await using app = await startCodingApp(responses(write, finish('Done.')))
  app.git('branch', 'agent')
  const { id } = await createRun(app, { prompt: 'Count on' })
  const branch = `agent-run-${id}-count-on`
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    branch,
    github_pull_requests: [{ head_branch_name: branch }],
  })
  expect(app.git('show', `${branch}:count.js`)).toContain('two')
  expect((await pushesOf(app, id)).map(entry => entry.tool_output.status)).toEqual(['ok'])
  expect(await dryRun(app)).toMatchObject({
    blocking_problems: [],
    notices: [{ code: 'branch_prefix_taken', detail: expect.stringContaining('"agent"') }],
  })
})

test('a branch with the name of the folder that appears during the run changes the name, after one refused push', async () => {
  await using app = await startCodingApp((_request, n) => {
    if (n === 0) return write
    app.git('branch', 'agent')
    return finish('Done.')
  })
  const { id } = await createRun(app, { prompt: 'Count on' })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({ status: 'completed', github_pull_requests: [{ state: 'open' }] })
  expect(run.branch).toMatch(new RegExp(`^agent-run-${id}-count-on`))
  expect((await pushesOf(app, id)).map(entry => entry.tool_output.status)).toEqual(['error', 'ok'])
})

/** A bare repository whose server accepts only `feature/…`. */
function strictRepository(): string {
  const bare = `${testFolder()}/strict.git`
  gitIn(testFolder(), 'clone', '--quiet', '--bare', makeRepository(), bare)
  const hook = join(bare, 'hooks', 'pre-receive')
  writeFileSync(
    hook,
    '#!/bin/sh\nwhile read -r from to ref; do case $ref in refs/heads/feature/*) ;; *) echo "only feature/"; exit 1 ;; esac; done\n',
  )
  chmodSync(hook, 0o755)
  return bare
}

test('a push that a rule of the server refuses is tried once; with a prefix that the server accepts there is a pull request', async () => {
  await using app = await startCodingApp(
    (request, n) =>
      n % 2 === 0 || !JSON.stringify(request).includes('tool_call_id') ? write : finish('Done.'),
    {},
    strictRepository(),
  )
  const refused = await createRun(app, { prompt: 'Count on' })
  const { result, github_pull_requests } = await awaitEnd(app, refused.id)
  expect([result.includes('only feature/'), github_pull_requests]).toEqual([true, []])
  expect((await pushesOf(app, refused.id)).filter(entry => entry.message_type === 'ACTION')).toHaveLength(1)

  expect(await setPrefix(app, 'feature/bot-')).toMatchObject({
    status: 200,
    body: { branch_prefix: 'feature/bot-' },
  })
  const { id } = await createRun(app, { prompt: 'Count on' })
  const branch = `feature/bot-run-${id}-count-on`
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    branch,
    github_pull_requests: [{ head_branch_name: branch }],
  })
})

test('the prefix of the repository precedes that of the organization, and only the beginning of a branch name is one', async () => {
  await using app = await startCodingApp(responses(write, finish('Done.')))
  await app.call('PATCH', at(app), { branch_prefix: 'bots/' })
  const of_organization = await createRun(app, { prompt: 'Count on' })
  expect((await awaitEnd(app, of_organization.id)).branch).toBe(`bots/run-${of_organization.id}-count-on`)
  for (const wrong of [
    'feature',
    'a b/',
    '/x/',
    'x//',
    '-x/',
    'x..y/',
    '.x/',
    'x.lock/',
    'x~/',
    'refs/heads/',
    `${'x'.repeat(60)}/`,
  ])
    expect(expectProblem(await setPrefix(app, wrong), 400).errors, wrong).toMatchObject([
      { loc: ['body', 'branch_prefix'] },
    ])
  expect(await setPrefix(app, null)).toMatchObject({ status: 200, body: { branch_prefix: null } })
})

test('a run that names no base starts from the default branch that the remote has then, also after it was renamed', async () => {
  await using app = await startCodingApp(responses(finish('Warm.'), write, finish('Done.')))
  await awaitEnd(app, (await createRun(app, { prompt: 'warm the mirror' })).id)
  app.git('branch', '-m', 'main', 'trunk')
  const { id } = await createRun(app, { prompt: 'Count on' })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    base_ref: 'trunk',
    github_pull_requests: [{ base_branch_name: 'trunk' }],
  })
  expect((await app.call('GET', `${at(app)}/repos/${app.repo_id}`)).body.default_branch).toBe('trunk')
})

test('a run reads its remote once, after its create, so that it starts from what the remote has then', async () => {
  const served = testFolder()
  const bare = join(served, 'app.git')
  gitIn(served, 'clone', '--quiet', '--bare', makeRepository(), bare)
  await using server = await startGitServer(served)
  const env = { AGENTRUN_ALLOW_PRIVATE_GIT: '1' }
  await using app = await startCodingApp(responses(finish('Done.')), env, `${server.url}/app.git`)
  const started = async () => awaitEnd(app, (await createRun(app, { prompt: 'Count on' })).id)
  const lists = () => server.requests.filter(request => request.startsWith('GET')).length
  await started()

  const before = lists()
  await started()
  expect(lists() - before).toBe(1)

  gitIn(bare, 'branch', '-m', 'main', 'trunk')
  expect(await started()).toMatchObject({ base_ref: 'trunk' })
  const moved = gitIn(bare, 'commit-tree', '-p', 'trunk', '-m', 'moved', 'trunk^{tree}').trim()
  gitIn(bare, 'update-ref', 'refs/heads/trunk', moved)
  expect(await started()).toMatchObject({ base_sha: moved })
})

test('a base that is gone is named, with what has become of it', async () => {
  await using app = await startCodingApp(responses(finish('Warm.')))
  app.git('branch', 'develop')
  await app.call('PATCH', `${at(app)}/repos/${app.repo_id}`, { default_branch: 'develop' })
  await awaitEnd(app, (await createRun(app, { prompt: 'warm the mirror' })).id)
  app.git('branch', '-m', 'main', 'trunk')
  app.git('branch', '-D', 'develop')
  const { id } = await createRun(app, { prompt: 'x' })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'failed',
    status_reason: 'setup_failed',
    error: {
      code: 'unknown_base_ref',
      message: expect.stringMatching(
        /"develop".*renamed or deleted since the run was created.*default branch is "trunk"/,
      ),
    },
  })
  const refused = expectProblem(await app.call('POST', `${at(app)}/agent/run`, { prompt: 'x' }), 400)
  expect(JSON.stringify(refused)).toContain('the base branch in the settings of the repository')
})
