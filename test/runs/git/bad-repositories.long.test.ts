import { execFileSync } from 'node:child_process'
import { rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { putRepository } from '../../api/repositories/put-repository.ts'
import { testFolder } from '../../temporary-folder.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { calls, finish, gitIn, makeRepository, responses, shell, startCodingApp } from '../coding-app.ts'

test('an unreachable git URL: accepted, then failed as git_unavailable with the reason in the trace', async () => {
  await using app = await startCodingApp(responses(), { AGENTRUN_ALLOW_PRIVATE_GIT: '1' })
  const url = 'http://127.0.0.1:9/nobody/nothing.git'
  const repo_id = await putRepository(app, 'nothing', 'http', url)
  const created = await createRun(app, { prompt: 'x', repo_id })
  expect(created).toMatchObject({ status: 'queued', base_sha: null })
  const run = await awaitEnd(app, created.id)
  expect(run).toMatchObject({ status: 'failed', status_reason: 'git_unavailable' })
  const logs = await allLogs(app, created.id)
  expect(logs.at(-1)).toMatchObject({ message_type: 'ERROR', observation: { phase: 'clone' } })
  expect(app.model.requests).toHaveLength(0)
})

test('an empty repository: failed as setup_failed, and the message names the fix', async () => {
  const empty = testFolder()
  gitIn(empty, 'init', '--quiet', '--bare')
  await using app = await startCodingApp(responses(), {}, empty)
  const { id } = await createRun(app, { prompt: 'x' })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'failed',
    status_reason: 'setup_failed',
    error: { code: 'empty_repository', message: expect.stringContaining('push a first one') },
  })
})

test('a missing base branch is refused at create; one that is newer than the mirror is found', async () => {
  await using app = await startCodingApp(responses({ text: 'ok' }))
  await awaitEnd(app, (await createRun(app, { prompt: 'warm the mirror' })).id)
  const path = `/v1/organizations/${app.org_id}/agent/run`
  const refused = await app.call('POST', path, { prompt: 'x', base_ref: 'no-such-branch' })
  expect(refused).toMatchObject({ status: 400, body: { errors: [{ loc: ['body', 'base_ref'] }] } })
  app.git('branch', 'brand-new')
  expect(await createRun(app, { prompt: 'x', base_ref: 'brand-new' })).toMatchObject({
    base_ref: 'brand-new',
    base_sha: app.git('rev-parse', 'main').trim(),
  })
})

test('a turn starts from the newest commit of its branch on the remote, not from the one in the mirror', async () => {
  await using app = await startCodingApp(
    responses(finish('one'), calls(shell('cat late.txt')), { text: 'two' }),
  )
  await awaitEnd(app, (await createRun(app, { prompt: 'warm the mirror' })).id)
  writeFileSync(join(app.repository, 'late.txt'), 'late\n')
  app.git('add', '.')
  app.git('commit', '--quiet', '-m', 'late')
  const { id } = await createRun(app, { prompt: 'read' })
  const run = await awaitEnd(app, id)
  expect(run.base_sha).toBe(app.git('rev-parse', 'main').trim())
  expect((await allLogs(app, id)).find(entry => entry.tool_name === 'shell').tool_output.output).toBe(
    'late\n',
  )
})

test('file names with newlines and invalid UTF-8, and 20,000 files, are cloned, changed and shown', async () => {
  const repository = makeRepository()
  gitIn(repository, 'checkout', '--quiet', 'main')
  const names = 'mkdir -p many && cd many && for i in $(seq 1 20000); do echo $i > f$i; done'
  execFileSync('bash', ['-c', `${names}; printf x > $'new\\nline'; printf y > $'bad\\xff'`], {
    cwd: repository,
  })
  gitIn(repository, 'add', '.')
  gitIn(repository, 'commit', '--quiet', '-m', 'many')
  await using app = await startCodingApp(
    responses(
      calls(
        shell(
          "ls many | wc -l; printf changed > $'many/new\\nline'; printf changed > $'many/bad\\xff'; git status --short | wc -l",
        ),
      ),
      { text: 'done' },
    ),
    {},
    repository,
  )
  const { id } = await createRun(app, { prompt: 'touch odd names' })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  expect(run, JSON.stringify(logs.at(-1))).toMatchObject({
    status: 'completed',
    github_pull_requests: [{ files_changed: 2 }],
  })
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}/diff`)
  expect(body.files).toHaveLength(2)
}, 90_000)

test('a push that the remote refuses keeps the work and reports the refusal', async () => {
  const repository = makeRepository()
  writeFileSync(
    join(repository, '.git/hooks/pre-receive'),
    '#!/bin/sh\necho "no agents here" >&2\nexit 1\n',
    { mode: 0o755 },
  )
  await using app = await startCodingApp(
    responses(calls(shell('echo x > x.txt')), { text: 'Wrote x.' }),
    {},
    repository,
  )
  const { id } = await createRun(app, { prompt: 'write' })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  expect(run).toMatchObject({
    status: 'completed',
    result: expect.stringContaining('no agents here'),
    github_pull_requests: [],
  })
  expect(run.branch).toBeNull()
  expect(logs.find(entry => entry.message_type === 'PR_CREATION_FAILED').observation).toMatchObject({
    code: 'rejected',
    retryable: false,
    attempt: 1,
  })
  const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${id}/diff`)
  expect(body.patch).toContain('+x')
})

test('a push that GitHub refuses for a workflow file names the missing permission, and a resume pushes it', async () => {
  const repository = makeRepository()
  const hook = join(repository, '.git/hooks/pre-receive')
  const words =
    'refusing to allow a GitHub App to create or update workflow `.github/workflows/ci.yml` without `workflows` permission'
  writeFileSync(hook, `#!/bin/sh\necho '${words}' >&2\nexit 1\n`, { mode: 0o755 })
  await using app = await startCodingApp(
    responses(calls(shell('echo x > x.txt')), { text: 'Wrote x.' }, { text: 'Again.' }),
    {},
    repository,
  )
  const { id } = await createRun(app, { prompt: 'write' })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'failed',
    status_reason: 'git_unavailable',
    error: {
      code: 'push_workflow_permission',
      message: expect.stringContaining('Workflows: Read and write'),
    },
    github_pull_requests: [],
  })
  expect((await allLogs(app, id)).at(-1)).toMatchObject({
    message_type: 'ERROR',
    observation: { retryable: true, phase: 'push' },
  })
  rmSync(hook)
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'try again',
  })
  expect(await awaitRun(app, id, run => run.turn === 2 && run.terminal)).toMatchObject({
    status: 'completed',
    github_pull_requests: [{ state: 'open', files_changed: 1 }],
  })
})
