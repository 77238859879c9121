import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { LogEntry } from '../../../src/contract/runs/logs.ts'
import { allLogs, awaitEnd, createRun } from '../await-run.ts'
import { type CodingApp, calls, responses, shell, startCodingApp } from '../coding-app.ts'

describe('a coding session of a model, with parallel calls', () => {
  let app: CodingApp
  // biome-ignore lint/suspicious/noExplicitAny: responses are read without types
  let run: any, logs: any[]

  beforeAll(async () => {
    app = await startCodingApp(
      responses(
        {
          reasoning: 'Look first.',
          ...calls(shell('ls && export SEEN=yes && mkdir -p sub && cd sub'), {
            name: 'read',
            arguments: { path: 'count.js' },
          }),
        },
        calls({ name: 'plan', arguments: { items: [{ text: 'Write two', state: 'in_progress' }] } }),
        calls(
          { name: 'edit', arguments: { path: '/workspace/count.js', old: 'one = 1', new: 'two = 2' } },
          { name: 'write', arguments: { path: '/workspace/sub/new file.txt', content: 'grün\n' } },
        ),
        { text: 'Now check.', ...calls(shell('pwd; echo "seen: $SEEN"; cat ../count.js; false')) },
        calls({ name: 'search', arguments: { pattern: 'two', path: '/workspace' } }),
        calls({ name: 'finish', arguments: { answer: 'count.js now counts two.' } }),
      ),
    )
    const created = await createRun(app, { prompt: 'Make it two.', tags: ['a'], metadata: { ticket: 7 } })
    run = await awaitEnd(app, created.id)
    logs = await allLogs(app, created.id)
  })
  afterAll(() => app[Symbol.asyncDispose]())

  test('ends completed, with the answer as result', () => {
    expect(run, JSON.stringify(logs.at(-1))).toMatchObject({
      status: 'completed',
      status_reason: null,
      result: 'count.js now counts two.',
      error: null,
      terminal: true,
    })
    expect(run.finished_at).not.toBeNull()
  })

  test('leaves a gap-free trace of well-formed entries', () => {
    expect(logs.map(entry => entry.seq)).toEqual(logs.map((_, i) => i + 1))
    expect(run.total_logs).toBe(logs.length)
    for (const entry of logs) LogEntry.parse(entry)
    expect(
      logs.map(entry => entry.tool_name ?? entry.message_type).filter(name => name !== 'git_clone'),
    ).toEqual([
      'USER_MESSAGE',
      'repository_instructions',
      'shell',
      'read',
      'PLAN_EVALUATION',
      'edit',
      'write',
      'shell',
      'search',
      'COMMIT_EVALUATION',
      'git_push',
      'INITIAL_PR_GENERATION',
      'PR_EVALUATION',
      'FINAL_ANSWER',
    ])
  })

  test('actions of the service name the repository, and no path of the host', () => {
    const full_name = app.repository.split('/').slice(-2).join('/')
    for (const name of ['git_clone', 'git_push'])
      expect(logs.find(entry => entry.tool_name === name).tool_input).toMatchObject({
        repository: full_name,
        branch: run.branch,
      })
    expect(JSON.stringify(logs)).not.toContain(app.repository)
    expect(JSON.stringify(logs)).not.toContain(app.data_dir)
  })

  test('one shell serves all calls and keeps directory and variables', () => {
    const second = logs.filter(entry => entry.tool_name === 'shell')[1]
    expect(second.tool_output).toMatchObject({
      status: 'error',
      exit_code: 1,
      output: '/workspace/sub\nseen: yes\nexport const two = 2\n',
    })
    expect(second.thought).toBe('Now check.')
  })

  test('the reasoning of a response is the thought of its first call', () => {
    expect(logs.find(entry => entry.tool_name === 'shell').thought).toBe('Look first.')
    expect(logs.find(entry => entry.tool_name === 'read').thought).toBeNull()
  })

  test('the pushed branch holds the change, on top of the base, under the configured author', () => {
    expect(run.branch).toMatch(/^agent\/run-\d+-make-it-two/)
    expect(app.git('diff', '--name-status', 'main', run.branch)).toBe('M\tcount.js\nA\tsub/new file.txt\n')
    expect(app.git('show', `${run.branch}:count.js`)).toBe('export const two = 2\n')
    expect(
      app.git('log', '-1', '--format=%an <%ae>%n%(trailers:key=Agent-Run,valueonly)', run.branch).trim(),
    ).toBe(`Agent Run <agent@agentrun.invalid>\n${run.web_url}`)
    expect(app.git('rev-parse', `${run.branch}^`).trim()).toBe(run.base_sha)
    expect(app.git('status', '--porcelain')).toBe('')
  })

  test('there is one pull request, and the diff is the whole change', async () => {
    expect(run.github_pull_requests).toMatchObject([
      {
        number: 1,
        state: 'open',
        head_branch_name: run.branch,
        base_branch_name: 'main',
        files_changed: 2,
        additions: 2,
        deletions: 1,
      },
    ])
    const { body } = await app.call('GET', `/v1/organizations/${app.org_id}/agent/run/${run.id}/diff`)
    expect(body).toMatchObject({ base_sha: run.base_sha, files_changed: 2, patch_truncated: false })
    expect(body.patch).toContain('+export const two = 2')
    const entry = logs.find(item => item.message_type === 'INITIAL_PR_GENERATION')
    expect(entry.observation).toMatchObject({
      pr_number: 1,
      head_branch: run.branch,
      base_branch: 'main',
      head_sha: body.head_sha,
      files_changed: 2,
      additions: 2,
      deletions: 1,
    })
  })

  test('the agent gets the instructions of the repository, its tools and the results of its calls', () => {
    const first = app.model.requests[0]?.body as {
      messages: { role: string; content: string }[]
      tools: { function: { name: string } }[]
    }
    expect(first.messages[0]).toMatchObject({ role: 'system', content: expect.stringContaining('Be brief.') })
    expect(first.tools.map(tool => tool.function.name)).toEqual([
      ...['shell', 'read', 'write', 'edit', 'search', 'plan', 'ask', 'start_run', 'get_run', 'finish'],
    ])
    const second = app.model.requests[1]?.body as {
      messages: { role: string; content: string; tool_call_id?: string }[]
    }
    expect(second.messages.slice(-2).map(message => message.role)).toEqual(['tool', 'tool'])
    expect(second.messages.at(-1)?.content).toContain('export const one = 1')
  })

  test('usage is counted on the run; an unknown price is null', () => {
    expect(run.usage).toMatchObject({ input_tokens: 600, output_tokens: 120, cost_usd: null })
    expect(run.usage.active_seconds).toBeGreaterThan(0)
  })

  test('the sandbox is removed, its files are kept, and a resume continues in them with the whole conversation', async () => {
    const resumed = await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
      agent_run_id: run.id,
      prompt: 'And now?',
    })
    expect(resumed.body).toMatchObject({
      id: run.id,
      status: 'queued',
      turn: 2,
      result: '',
      finished_at: null,
    })
    const again = await awaitEnd(app, run.id)
    expect(again).toMatchObject({
      status: 'completed',
      turn: 2,
      result: 'There is nothing more in this script.',
    })
    const last = app.model.requests.at(-1)?.body as { messages: { role: string; content: unknown }[] }
    expect(JSON.stringify(last.messages)).toContain('Make it two.')
    expect(JSON.stringify(last.messages.slice(-3))).toContain('And now?')
    expect(again.github_pull_requests).toHaveLength(1)
  })
})

test('a second turn sees the files of the first, and its commit goes to the same branch and pull request', async () => {
  await using app = await startCodingApp(
    responses(
      calls(shell('echo first > a.txt; echo scratch > ignored.log; echo "*.log" > .gitignore')),
      { text: 'One.' },
      calls(shell('cat a.txt ignored.log; echo second > b.txt')),
      { text: 'Two.' },
    ),
  )
  const { id } = await createRun(app, { prompt: 'first' })
  const first = await awaitEnd(app, id)
  await app.call('POST', `/v1/organizations/${app.org_id}/agent/run/resume`, {
    agent_run_id: id,
    prompt: 'second',
  })
  const second = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  expect(second).toMatchObject({ status: 'completed', turn: 2, result: 'Two.', branch: first.branch })
  expect(logs.filter(entry => entry.tool_name === 'shell').at(-1).tool_output.output).toBe('first\nscratch\n')
  expect(app.git('log', '--format=%s', `main..${second.branch}`).trim().split('\n')).toHaveLength(2)
  expect(second.github_pull_requests).toMatchObject([{ number: 1, files_changed: 3 }])
  expect(logs.filter(entry => entry.message_type === 'INITIAL_PR_GENERATION')).toHaveLength(1)
  expect(logs.filter(entry => entry.message_type === 'FINAL_ANSWER').map(entry => entry.turn)).toEqual([1, 2])
})

test('a run that changes nothing has no branch and no pull request', async () => {
  await using app = await startCodingApp(responses({ text: 'All is well.' }))
  const { id } = await createRun(app, { prompt: 'look' })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({ status: 'completed', github_pull_requests: [], branch: null })
  expect(app.git('branch', '--list', 'agent/*')).toBe('')
})

test('auto_create_pr false pushes the branch and opens no pull request', async () => {
  await using app = await startCodingApp(responses(calls(shell('echo x > x.txt')), { text: 'Done.' }))
  const { id } = await createRun(app, { prompt: 'write', auto_create_pr: false })
  const run = await awaitEnd(app, id)
  expect(run).toMatchObject({ status: 'completed', github_pull_requests: [] })
  expect(app.git('branch', '--list', 'agent/*')).toContain(run.branch)
})
