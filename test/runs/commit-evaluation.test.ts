// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { afterAll, beforeAll, beforeEach, expect, test } from 'vitest'
import type { FakeAnswer } from '../model/fake-server.ts'
import { allLogs, awaitEnd, createRun } from './await-run.ts'
import { type CodingApp, calls, shell, startCodingApp } from './coding-app.ts'

let app: CodingApp
let script: FakeAnswer[]
beforeAll(async () => {
  app = await startCodingApp(() => script.shift() ?? { text: 'Done.' }, { AGENTRUN_APPROVE_CI_CHANGES: '0' })
  await app.call('PUT', `/v1/organizations/${app.org_id}/secrets/API_KEY`, { value: 'api-key-0123456789', for_agent: true })
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(() => {
  script = []
})

const play = async (...answers: FakeAnswer[]) => {
  script = answers
  const requested = app.model.requests.length
  const { id } = await createRun(app, { prompt: 'work' })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  const evaluations: any[] = logs.filter(entry => entry.message_type === 'COMMIT_EVALUATION').map(entry => entry.observation)
  const told = app.model.requests.slice(requested).map(({ body }) => JSON.stringify((body as { messages: unknown[] }).messages.at(-1)))
  return { run, logs, evaluations, told }
}

test('commits are evaluated before they are pushed, and the trace shows commits, findings and verdict', async () => {
  const { run, logs, evaluations } = await play(
    calls(
      shell(
        'echo "export const two = 2" >>count.js; git commit -qam wip; mkdir -p .github/workflows; echo "on: push" >.github/workflows/ci.yml',
      ),
    ),
  )
  expect(run).toMatchObject({ status: 'completed', github_pull_requests: [expect.anything()] })
  expect(evaluations).toMatchObject([
    {
      verdict: 'pass',
      commits: [
        { sha: expect.stringMatching(/^[0-9a-f]{40}$/), message: 'wip', files: ['count.js'] },
        { message: expect.stringContaining('work'), files: ['.github/workflows/ci.yml'] },
      ],
      findings: [
        { severity: 'warning', code: 'ci_workflow_changed', path: '.github/workflows/ci.yml' },
        { severity: 'info', code: 'tests_untouched' },
        { severity: 'info', code: 'message_unclear' },
      ],
    },
  ])
  const names = logs.map(entry => entry.tool_name ?? entry.message_type)
  expect(names.indexOf('COMMIT_EVALUATION')).toBe(names.indexOf('git_push') - 1)
})

test('a finding goes back to the agent with its location, and the commit is pushed once it is fixed', async () => {
  const conflict =
    'printf "one\\n<<<<<<< HEAD\\na\\n=======\\nb\\n>>>>>>> x\\n" >merged.txt; mkdir -p node_modules/a; echo x >node_modules/a/index.js'
  const { run, evaluations, told } = await play(
    calls(shell(conflict)),
    { text: 'First answer.' },
    calls(shell('echo one >merged.txt; rm -r node_modules')),
    { text: 'Second answer.' },
  )
  expect(run).toMatchObject({ status: 'completed', result: 'Second answer.', turn: 1 })
  expect(evaluations.map(({ verdict }) => verdict)).toEqual(['fail', 'pass'])
  expect(told[2]).toContain('merged.txt:2: A conflict of a merge was not resolved.')
  expect(told[2]).toContain('node_modules/a/index.js: Is made by an install')
  expect(app.git('diff', '--name-only', 'main', run.branch)).toBe('merged.txt\n')
})

test('the value of a secret is in no commit once it is removed from the files, regardless of who had committed it', async () => {
  const { run, evaluations, told } = await play(
    calls(shell('echo "$API_KEY" >config; git add config; git commit -qm config; echo more >more.txt')),
    { text: 'First.' },
    calls(shell('echo "from the environment" >config')),
  )
  expect(run).toMatchObject({ status: 'completed' })
  expect(evaluations.map(({ verdict, commits }) => [verdict, commits.length])).toEqual([
    ['fail', 2],
    ['pass', 1],
  ])
  expect(told[2]).toContain('squashed into one')
  expect(told[2]).not.toContain('api-key-0123456789')
  expect(app.git('log', '-p', `main..${run.branch}`)).not.toContain('api-key-0123456789')
  expect(app.git('diff', '--name-only', 'main', run.branch)).toBe('config\nmore.txt\n')
})

test('findings go back at most twice in a turn: then the commit is pushed and reports them; a secret is not pushed', async () => {
  const { run, evaluations } = await play(calls(shell('mkdir __pycache__; echo x >__pycache__/a.txt')))
  expect(run).toMatchObject({ status: 'completed', github_pull_requests: [expect.anything()] })
  expect(evaluations.map(({ verdict }) => verdict)).toEqual(['fail', 'fail'])
  const denied = await play(calls(shell('echo "$API_KEY" >config')))
  expect(denied.run).toMatchObject({ status: 'failed', status_reason: 'policy_denied', error: { code: 'secret_in_commit' } })
  expect(denied.logs.some(entry => entry.tool_name === 'git_push')).toBe(false)
})

test('a second turn is evaluated for what it adds, and not for earlier commits', async () => {
  const first = await play(calls(shell('echo one >one.txt; git add .; git commit -qm wip')))
  script = [calls(shell('echo two >two.txt'))]
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, { agent_run_id: first.run.id, prompt: 'more' })
  await awaitEnd(app, first.run.id)
  const last: any = (await allLogs(app, first.run.id)).findLast(entry => entry.message_type === 'COMMIT_EVALUATION')
  expect(last.observation).toMatchObject({ verdict: 'pass', commits: [{ files: ['two.txt'] }], findings: [] })
})
