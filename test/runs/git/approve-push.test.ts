import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { expectProblem } from '../../api/expect-problem.ts'
import { rows } from '../../start-app.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'
import { type CodingApp, calls, makeRepository, responses, shell, startCodingApp } from '../coding-app.ts'

const workflow = '.github/workflows/ci.yml'
const repository = () => makeRepository({ 'count.js': 'export const one = 1\n', [workflow]: 'on: push\n' })
const change = calls(shell(`echo "# faster" >> ${workflow}; echo two >> count.js`))
const resume = (app: CodingApp, id: number, body: object) =>
  app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, { agent_run_id: id, ...body })

async function waitingRun(app: CodingApp): Promise<number> {
  const { id } = await createRun(app, { prompt: 'Make CI faster' })
  expect(await awaitRun(app, id, run => run.status === 'waiting' || run.terminal)).toMatchObject({
    status: 'waiting',
    waiting_on: 'tool_approval',
    phase: null,
    branch: null,
    github_pull_requests: [],
    deadline_at: expect.any(String),
  })
  expect(app.git('branch', '--list', 'agent/*')).toBe('')
  return id
}

test('a change of what CI does waits for a person before it is pushed, and an approved push needs no further work of the agent', async () => {
  await using app = await startCodingApp(responses(change, { text: 'Faster.' }), {}, repository())
  const id = await waitingRun(app)
  const evaluation = (await allLogs(app, id)).find(entry => entry.message_type === 'COMMIT_EVALUATION')
  expect(evaluation.observation).toMatchObject({
    verdict: 'pass',
    findings: [{ code: 'ci_workflow_changed', path: workflow }, { code: 'tests_untouched' }],
  })
  const requested = app.model.requests.length

  expect((await resume(app, id, { prompt: 'Fine with me.', approve: true })).status).toBe(200)
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({
    status: 'completed',
    turn: 1,
    result: 'Faster.',
    github_pull_requests: [{ number: 1, state: 'open' }],
  })
  expect(app.git('show', `${run.branch}:${workflow}`)).toBe('on: push\n# faster\n')
  expect(app.model.requests).toHaveLength(requested)
  const logs = await allLogs(app, id)
  expect(logs.filter(entry => entry.message_type === 'USER_MESSAGE').at(-1)).toMatchObject({
    observation: { text: 'Fine with me.', user_id: app.user_id, mode: 'approve' },
  })
  expect(logs.filter(entry => entry.message_type === 'COMMIT_EVALUATION')).toHaveLength(1)
  const audited = `select user_id, detail
    from audit_entries
    where action = 'run.push_approved' and target_id = $1`
  expect(await rows(app, audited, [String(id)])).toEqual([
    { user_id: app.user_id, detail: JSON.stringify({ head_sha: evaluation.observation.head_sha }) },
  ])
  expect(expectProblem(await resume(app, id, { prompt: 'Again.', approve: true }), 409).code).toBe(
    'invalid_transition',
  )
})

test('a message instead of an approval goes to the agent, and its next commit needs approval too while it changes CI', async () => {
  await using app = await startCodingApp(
    responses(
      ...[
        change,
        { text: 'Faster.' },
        calls(shell(`echo "# cheaper" >> ${workflow}`)),
        { text: 'Cheaper, too.' },
      ],
      ...[calls(shell(`git checkout HEAD~2 -- ${workflow}`)), { text: 'Only the count.' }],
    ),
    {},
    repository(),
  )
  const id = await waitingRun(app)
  await resume(app, id, { prompt: 'And cheaper?', approve: false })
  await awaitRun(app, id, run => run.waiting_on === 'tool_approval' && app.model.requests.length === 4)
  const [seen, newer] = (await allLogs(app, id))
    .filter(entry => entry.message_type === 'COMMIT_EVALUATION')
    .map(entry => entry.observation.head_sha as string)
  const approved = await resume(app, id, { prompt: 'Fine.', approve: true, expected_head_sha: seen })
  expect(expectProblem(approved, 409).detail).toContain(newer)
  await resume(app, id, { prompt: 'Leave CI alone.' })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({
    status: 'completed',
    result: 'Only the count.',
    github_pull_requests: [{ files_changed: 1 }],
  })
  expect(app.git('diff', '--name-only', 'main', run.branch ?? '')).toBe('count.js\n')
})

test('a stopped run that waits for approval pushes nothing, and without required approvals the change is pushed', async () => {
  await using app = await startCodingApp(responses(change, { text: 'Faster.' }), {}, repository())
  const id = await waitingRun(app)
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/stop`, { agent_run_id: id })
  expect(await awaitEnd(app, id)).toMatchObject({ status: 'cancelled', branch: null })
  expect(existsSync(join(app.repository, '.git/refs/heads/agent'))).toBe(false)

  await using trusting = await startCodingApp(
    responses(change, { text: 'Faster.' }),
    { AGENTRUN_APPROVE_CI_CHANGES: '0' },
    repository(),
  )
  const { id: pushed } = await createRun(trusting, { prompt: 'Make CI faster' })
  expect(await awaitEnd(trusting, pushed)).toMatchObject({
    status: 'completed',
    github_pull_requests: [{ number: 1 }],
  })
})

test('a change of a file that the organization names waits too, also where other approvals are off', async () => {
  const files = { 'count.js': 'export const one = 1\n', 'infra/main.tf': 'a\n' }
  const edit = calls(shell('echo b >> infra/main.tf; echo two >> count.js'))
  await using app = await startCodingApp(
    responses(edit, { text: 'Done.' }),
    { AGENTRUN_APPROVE_CI_CHANGES: '0' },
    makeRepository(files),
  )
  expect(
    (await app.call('PATCH', `/v1/organizations/${app.org_id}`, { approval_paths: ['infra/'] })).status,
  ).toBe(200)
  const id = await waitingRun(app)
  const evaluation = (await allLogs(app, id)).find(entry => entry.message_type === 'COMMIT_EVALUATION')
  expect(evaluation.observation.findings[0]).toMatchObject({
    code: 'approval_path_changed',
    path: 'infra/main.tf',
    body: 'The organization demands an approval for changes of infra/.',
  })
  await resume(app, id, { prompt: 'Fine.', approve: true })
  expect(await awaitEnd(app, id)).toMatchObject({
    status: 'completed',
    github_pull_requests: [{ number: 1 }],
  })
})
