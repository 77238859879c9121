import { afterAll, beforeAll, expect, test } from 'vitest'
import { type App, startApp } from '../../start-app.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from '../await-run.ts'

let app: App
beforeAll(async () => {
  app = await startApp()
})
afterAll(() => app[Symbol.asyncDispose]())

const playbook = (steps: string) => `Play this.\n\n\`\`\`playbook\n${steps}\n\`\`\`\n`

test('a command with an unexpected exit code ends the run as agent_error, with step, command and output', async () => {
  const { id } = await createRun(app, {
    prompt: playbook('- run: echo ready\n- run: echo broken && exit 3\n- answer: never'),
  })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({
    status: 'failed',
    status_reason: 'agent_error',
    result: '',
    error: { code: 'script_failed' },
  })
  const error = (await allLogs(app, id)).at(-1)
  expect(error).toMatchObject({
    message_type: 'ERROR',
    tool_name: 'shell',
    observation: { code: 'script_failed' },
  })
  for (const word of ['broken', '3']) expect(error.observation.message).toContain(word)
})

test('a playbook with an expected exit code, a plan, a write, an edit and a question completes', async () => {
  const steps = [
    '- plan: [Ask, Write]',
    '- run: { run: "exit 4", expect_exit: 4 }',
    '- ask: Which name?',
    '- write: { path: notes/a.txt, content: "one\\n" }',
    '- edit: { path: notes/a.txt, old: one, new: two }',
    '- run: cat notes/a.txt',
    '- answer: Written.',
  ].join('\n')
  const { id } = await createRun(app, { prompt: playbook(steps) })
  await awaitRun(app, id, run => run.status === 'waiting')
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'Any.',
  })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  expect(run, JSON.stringify(logs.at(-1))).toMatchObject({
    status: 'completed',
    result: 'Written.',
    usage: { input_tokens: 0, cost_usd: '0' },
    model: 'scripted/playbook',
  })
  expect(logs.find(entry => entry.message_type === 'PLAN_EVALUATION')).toMatchObject({
    thought: expect.stringContaining('Ask'),
    observation: {
      plan: [
        { id: 1, text: 'Ask' },
        { id: 2, text: 'Write' },
      ],
    },
  })
  expect(logs.filter(entry => entry.tool_name === 'shell').at(-1).tool_output.output).toBe('two\n')
})

test('without a playbook the tour declares itself scripted and changes nothing', async () => {
  const { id } = await createRun(app, { prompt: 'Rewrite everything in a better way.' })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({ status: 'completed', github_pull_requests: [] })
  for (const word of ['scripted', 'without a language model', 'OPENAI_API_KEY', 'playbook'])
    expect(run.result).toContain(word)
})

test('an empty workspace without a repository works, with no branch and no pull request', async () => {
  const { id } = await createRun(app, {
    prompt: playbook('- run: pwd && ls -A | wc -l\n- answer: Empty.'),
    repo_id: null,
    repoless: true,
  })
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  expect(run, JSON.stringify(logs.at(-1))).toMatchObject({
    status: 'completed',
    repo_id: null,
    branch: null,
    github_pull_requests: [],
  })
  expect(logs.find(entry => entry.tool_name === 'shell').tool_output.output).toBe('/workspace\n0\n')
})

test('the pull request of a script declares that it is scripted', async () => {
  const { id } = await createRun(app, {
    prompt: playbook('- write: { path: a.txt, content: a }\n- answer: Wrote a.'),
  })
  await awaitEnd(app, id)
  const { rows } = await app.db.query<{ body: string }>({
    text: 'select body from pull_requests where run_id = $1',
    values: [id],
  })
  expect(rows[0]?.body).toContain('scripted playbook, without a language model')
})
