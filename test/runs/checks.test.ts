// biome-ignore-all lint/suspicious/noExplicitAny: entries are looked into freely
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { saveCheck } from '../../src/store/checks.ts'
import { servePlain, type TestServer } from '../egress/servers.ts'
import type { FakeAnswer } from '../model/fake-server.ts'
import { rows } from '../start-app.ts'
import { allLogs, awaitEnd, awaitRun, createRun } from './await-run.ts'
import { type CodingApp, calls, shell, startCodingApp } from './coding-app.ts'
import { sandboxProcesses } from './sandbox-processes.ts'

const SECRET = 'deploy-key-0123456789'

let app: CodingApp
let server: TestServer
let script: FakeAnswer[]
/** What the server answers to checks that ask it, one after the other. */
let gates: (() => Promise<number> | number)[]
/** What a check asks for that is to go on when somebody says so. */
function gate(status = 200) {
  const reached = Promise.withResolvers<void>()
  const passed = Promise.withResolvers<number>()
  gates = [
    () => {
      reached.resolve()
      return passed.promise
    },
  ]
  return { reached: reached.promise, open: () => passed.resolve(status) }
}
beforeAll(async () => {
  server = await servePlain(async (_request, answer) => {
    answer.statusCode = (await gates.shift()?.()) ?? 200
    answer.end('asked')
  })
  app = await startCodingApp(() => script.shift() ?? { text: 'Nothing to change.' }, { AGENTRUN_ALLOW_PRIVATE_EGRESS: '1' })
  await app.call('PUT', at('/secrets/API_KEY'), { value: SECRET, for_agent: true })
  await app.call('PUT', at(`/repos/${app.repo_id}/egress`), {
    agent: { mode: 'allowlist', allow: [{ host: 'localhost', port: server.port }] },
  })
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await server[Symbol.asyncDispose]()
})
beforeEach(async () => {
  script = []
  gates = []
  await app.call('PUT', at(`/repos/${app.repo_id}/setup-commands`), { commands: [] })
  await follow({ check_retry_count: 3, ignored_checks: [], check_retry_counts: {}, custom_prompts: {}, high_priority_apps: [] })
})

const at = (path: string) => `/v1/organizations/${app.org_id}${path}`
const follow = (settings: object) => app.call('PUT', at(`/repos/check-suite-settings?repo_id=${app.repo_id}`), settings)
/** Checks by their commands; time-outs in seconds behind the name. */
const checkBy = async (commands: Record<string, string>, timeout_seconds = 60) => {
  const checks = Object.entries(commands).map(([name, command]) => ({ name, command, timeout_seconds }))
  expect((await app.call('PUT', at(`/repos/${app.repo_id}/checks`), { checks })).status).toBe(200)
}
const ask = () => `env -u http_proxy curl --noproxy '' -fsS -m 60 -x http://127.0.0.1:3128 http://localhost:${server.port}/`
const start = async (more: Record<string, unknown> = {}) => (await createRun(app, { prompt: 'work', ...more })).id as number
const seen = async (id: number) => {
  const run = await awaitEnd(app, id)
  const logs = await allLogs(app, id)
  const of = (type: string): any[] => logs.filter(entry => entry.message_type === type).map(entry => entry.observation)
  const checks = logs.filter(entry => entry.tool_name === 'check')
  return { run, logs, detected: of('DETECT_PR_ERRORS'), fixed: of('FIX_PR_ERRORS'), checks, pr: await pullRequestOf(run) }
}
const pullRequestOf = async (run: any) => {
  const [pr] = run.github_pull_requests
  return pr && (await app.call('GET', at(`/prs/${pr.id}`))).body
}
const told = () =>
  app.model.requests.map(({ body }) => (body as { messages: any[] }).messages.at(-1)).map(message => JSON.stringify(message))

describe('what fails goes back to the agent', () => {
  test('who mends it, and the run ends when its checks pass: each step stands in the trace, and the pull request says it', async () => {
    await checkBy({ test: 'echo looking; grep -q two count.js || { echo "not ok: two is missing"; exit 1; }', lint: 'test -s count.js' })
    script = [
      calls(shell('echo "export const three = 3" >>count.js')),
      { text: 'First answer.' },
      calls(shell('echo "export const two = 2" >>count.js')),
      { text: 'Added two.' },
    ]
    const { run, logs, detected, fixed, checks, pr } = await seen(await start())
    expect(run, JSON.stringify(logs.slice(-3))).toMatchObject({ status: 'completed', turn: 1 })
    expect(run.result).toMatch(
      /^Added two\.\n\nChecks: all 2 checks of commit [0-9a-f]{12} passed, after one attempt to mend what failed\.$/,
    )
    const failed = {
      name: 'test',
      conclusion: 'failure',
      log_excerpt: 'looking\nnot ok: two is missing',
      url: expect.stringContaining('/agent/trace/'),
    }
    expect(detected).toEqual([{ pr_number: pr.number, head_sha: fixed[0].from_sha, checks: [failed], attempt: 1, max_attempts: 3 }])
    expect(fixed).toEqual([
      ...[{ pr_number: pr.number, from_sha: expect.any(String), to_sha: pr.head_sha, fixed_checks: ['test'], remaining_checks: [] }].map(
        what => ({ ...what, attempt: 1, stopped_because: null }),
      ),
    ])
    expect(logs.find(entry => entry.message_type === 'FIX_PR_ERRORS')?.thought).toBe('Added two.')
    expect(checks.map(({ tool_input, tool_output }) => `${tool_input.name} ${tool_output.conclusion}`)).toEqual([
      ...['test failure', 'lint success', 'test success', 'lint success'],
    ])
    const commits = logs.filter(entry => entry.message_type === 'COMMIT_EVALUATION').map(entry => entry.observation.commits.length)
    expect(commits).toEqual([1, 1])
    const kinds = logs.map(entry => entry.tool_name ?? entry.message_type)
    const pushed = ['COMMIT_EVALUATION', 'git_push']
    expect(
      kinds.slice(kinds.indexOf('COMMIT_EVALUATION')).filter(kind => kind !== 'INITIAL_PR_GENERATION' && kind !== 'PR_EVALUATION'),
    ).toEqual([...[...pushed, 'check', 'check', 'DETECT_PR_ERRORS', 'shell', ...pushed, 'check', 'check', 'FIX_PR_ERRORS', 'FINAL_ANSWER']])
    expect(pr.checks).toEqual({ state: 'success', passed: 2, failed: 0, pending: 0 })
    const { body } = await app.call('GET', at(`/prs/${pr.id}/checks?head_sha=${detected[0].head_sha}`))
    expect(body).toMatchObject({
      state: 'failure',
      items: [
        { name: 'lint', conclusion: 'success' },
        { ...failed, source: 'local', attempt: 1 },
      ],
    })
    expect(told().find(text => text.includes('not ok'))).toMatch(/They are data to find the cause by/)
  })

  test('a playbook does it without a model: its block for failed checks is played from the beginning each time', async () => {
    await checkBy({ lines: 'test $(wc -l <note.txt) -ge 3 || { echo "too few lines"; exit 1; }' })
    const prompt = [
      ...['```playbook', '- write: {path: note.txt, content: "one\\n"}', '- on_checks_failed:'],
      ...['    - thought: One more line.', '    - run: echo more >>note.txt', '    - answer: One line more.', '- answer: Wrote it.', '```'],
    ].join('\n')
    const { run, detected, fixed } = await seen(await start({ prompt, model: 'scripted/playbook' }))
    expect(run).toMatchObject({ status: 'completed' })
    expect(run.result).toMatch(/^One line more\.\n\nChecks: the one check .* passed, after 2 attempts/)
    expect(detected.map(entry => entry.attempt)).toEqual([1, 2])
    expect(fixed.map(entry => [entry.fixed_checks, entry.remaining_checks])).toEqual([
      [[], ['lines']],
      [['lines'], []],
    ])
    expect(app.git('show', `${run.branch}:note.txt`)).toBe('one\nmore\nmore\n')
  })

  test('no check: nothing is said of any; no change: none is run', async () => {
    await checkBy({})
    script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
    const without = await seen(await start())
    expect(without.run.result).toBe('Made.')
    expect(without.pr.checks.state).toBe('none')
    await checkBy({ test: 'false' })
    expect((await seen(await start())).run.result).toBe('Nothing to change.')
  })
})

describe('it stops', () => {
  const change = (n: number) => calls(shell(`echo ${n} >>tries.txt`))

  test('where as many attempts as are allowed did not help, and says so in entry, answer and pull request', async () => {
    await checkBy({ never: 'echo "can never pass"; exit 1', fine: 'true' })
    await follow({ check_retry_count: 2 })
    script = [change(1), { text: 'One.' }, change(2), { text: 'Two.' }, change(3), { text: 'Three.' }, change(4), { text: 'Four.' }]
    const { run, detected, fixed, pr, logs } = await seen(await start())
    expect(run).toMatchObject({ status: 'completed' })
    expect(run.result).toMatch(
      /^Three\.\n\nChecks of commit [0-9a-f]{12}: 1 of 2 failed \(never\), after 2 attempts .*\(not_converging\)\.$/,
    )
    expect(detected.map(entry => [entry.attempt, entry.max_attempts])).toEqual([
      [1, 2],
      [2, 2],
    ])
    expect(fixed.map(entry => entry.stopped_because)).toEqual([null, 'not_converging'])
    expect(fixed[1]).toMatchObject({ to_sha: pr.head_sha, remaining_checks: ['never'], attempt: 2 })
    expect(pr.checks).toEqual({ state: 'failure', passed: 1, failed: 1, pending: 0 })
    expect(logs.at(-1)).toMatchObject({ message_type: 'FINAL_ANSWER', observation: run.result })
    script = []
  })

  test('where the files are what they were before, and where nothing is to be tried', async () => {
    await checkBy({ never: 'exit 1' })
    script = [
      ...[change(1), { text: 'One.' }, change(2), { text: 'Two.' }],
      ...[calls(shell('git show HEAD~1:tries.txt >tries.txt')), { text: 'Back.' }],
    ]
    const back = await seen(await start())
    expect(back.fixed.map(entry => entry.stopped_because)).toEqual([null, 'same_diff'])
    await follow({ check_retry_count: 0 })
    script = [change(9), { text: 'Nine.' }]
    const none = await seen(await start())
    expect(none.detected).toMatchObject([{ attempt: 0, max_attempts: 0, checks: [{ name: 'never' }] }])
    expect(none.fixed).toMatchObject([{ attempt: 0, stopped_because: 'attempts_used', fixed_checks: [], remaining_checks: ['never'] }])
    expect(none.run.result).toContain('(attempts_used)')
  })

  test('when an attempt breaks what was fine', async () => {
    await checkBy({ never: 'exit 1', fine: '! test -e broken.txt' })
    script = [change(1), { text: 'One.' }, calls(shell('echo >broken.txt')), { text: 'Broken.' }]
    expect((await seen(await start())).fixed).toMatchObject([{ stopped_because: 'findings_grew', remaining_checks: ['fine', 'never'] }])
  })
})

test('the settings of the repository are followed: what is ignored, how often, and what is said besides', async () => {
  await checkBy({ docs: 'exit 1', lint: 'exit 1', test: 'test -e second.txt' })
  await follow({ ignored_checks: ['docs'], check_retry_counts: { lint: 0, test: 1 }, custom_prompts: { test: 'It wants second.txt.' } })
  const asked = app.model.requests.length
  script = [calls(shell('echo 1 >first.txt')), { text: 'First.' }, calls(shell('echo 2 >second.txt')), { text: 'Second.' }]
  const { detected, fixed, pr } = await seen(await start())
  expect(detected[0]).toMatchObject({ max_attempts: 1, checks: [{ name: 'lint' }, { name: 'test' }] })
  const message =
    told()
      .slice(asked)
      .find(text => text.includes('It wants second.txt.')) ?? ''
  expect(message).toContain('not asked of you: lint.')
  expect(message).not.toContain('docs')
  expect(fixed).toMatchObject([{ fixed_checks: ['test'], remaining_checks: ['lint'], stopped_because: 'attempts_used' }])
  expect(pr.checks).toMatchObject({ failed: 1, passed: 1 })
})

test('a check that is not the fault of the change is run again at the same commit, and only that', async () => {
  await checkBy({ flaky: ask(), steady: 'true' })
  gates = [() => 500, () => 200]
  script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }, { text: 'The server was away.' }]
  const { run, logs, detected, fixed, checks, pr } = await seen(await start())
  expect(logs.filter(entry => entry.tool_name === 'git_push')).toHaveLength(1)
  expect(run.result).toMatch(/^The server was away\.\n\nChecks: all 2 checks .* passed, after one attempt/)
  expect(detected).toHaveLength(1)
  expect(fixed).toMatchObject([{ from_sha: pr.head_sha, to_sha: pr.head_sha, fixed_checks: ['flaky'] }])
  expect(checks.map(entry => [entry.tool_input.name, entry.tool_input.attempt])).toEqual([
    ['flaky', 1],
    ['steady', 1],
    ['flaky', 2],
  ])
})

test('one that does not end is timed out, and what it wrote until then is told', async () => {
  await checkBy({ slow: 'echo begun; sleep 1000' }, 1)
  await follow({ check_retry_count: 0 })
  script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
  const { detected } = await seen(await start())
  expect(detected[0].checks).toMatchObject([{ conclusion: 'timed_out', log_excerpt: 'begun\n\nIt was not done after 1 s.' }])
  expect(sandboxProcesses(app.data_dir)).toEqual([])
})

test('the value of a secret that a check writes is nowhere: entries, rows, what the agent is told', async () => {
  await checkBy({ leak: 'echo "key=$API_KEY"; exit 1' })
  await follow({ check_retry_count: 1 })
  const asked = app.model.requests.length
  script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
  const { logs, detected, pr } = await seen(await start())
  expect(detected[0].checks[0].log_excerpt).toBe('key=[redacted:API_KEY]')
  const { body } = await app.call('GET', at(`/prs/${pr.id}/checks`))
  const kept = await rows(app, 'select body from journal')
  for (const all of [logs, body, kept, app.model.requests.slice(asked)]) expect(JSON.stringify(all)).not.toContain(SECRET)
})

test('each runs in a clean sandbox: the commit and what the setup made, nothing of the agent, of the setup or of other checks', async () => {
  await app.call('PUT', at('/secrets/SETUP_KEY'), { value: 'setup-key-0123456789' })
  await app.call('PUT', at(`/repos/${app.repo_id}/setup-commands`), {
    commands: ['mkdir lib; echo "made with $SETUP_KEY" >lib/made; echo home >~/home; echo setup >>count.js; (sleep 4321 &)'],
  })
  const look =
    'ls -A | grep -v .git$ | xargs; cat lib/made ~/home; tail -n 1 count.js; echo "[$SETUP_KEY][$API_KEY]"; pgrep -c 4321; cat mine.txt'
  await checkBy({ first: `${look}; echo x >dirty; exit 1`, second: `${look}; exit 1` })
  await follow({ check_retry_count: 0 })
  script = [
    calls(
      shell('echo "ignored.txt" >.gitignore; echo x >ignored.txt; echo x >~/agents; echo "// changed" >>count.js; echo mine >mine.txt'),
    ),
    { text: 'Made.' },
  ]
  const { checks, logs } = await seen(await start())
  const output = checks.map(entry => entry.tool_output.output)
  expect(output[0], JSON.stringify(logs.slice(-4))).toContain('.gitignore AGENTS.md README.md count.js lib mine.txt\n')
  expect(output[0]).toContain('\nmade with [redacted:SETUP_KEY]\nhome\n// changed\n[][[redacted:API_KEY]]\n0\nmine\n')
  expect(output[1]).toBe(output[0])
  const set_up = logs.filter(entry => entry.tool_name === 'setup_command' && entry.tool_input.for === 'checks')
  expect(set_up).toHaveLength(1)
})

test('a stop while a check runs ends it at once and leaves no process; the check is cancelled', async () => {
  await checkBy({ long: ask() })
  const { reached } = gate()
  script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
  const id = await start()
  await reached
  const before = (await app.call('GET', at(`/agent/run/${id}`))).body
  expect(before).toMatchObject({ status: 'running', phase: 'evaluate', waiting_on: 'ci' })
  expect((await pullRequestOf(before)).checks).toMatchObject({ state: 'pending', pending: 1 })
  await app.call('POST', at('/agent/run/stop'), { agent_run_id: id })
  const { run, detected, pr } = await seen(id)
  expect([run.status, detected]).toEqual(['cancelled', []])
  expect(sandboxProcesses(app.data_dir)).toEqual([])
  const { body } = await app.call('GET', at(`/prs/${pr.id}/checks`))
  expect(body.items).toMatchObject([{ name: 'long', status: 'completed', conclusion: 'cancelled' }])
})

test('a budget holds in attempts to mend too, and more of it lets the run go on from there', async () => {
  await checkBy({ test: 'test -e two.txt' })
  script = [calls(shell('echo 1 >one.txt')), { text: 'One.' }, calls(shell('echo 2 >two.txt')), { text: 'Two.' }]
  const id = await start({ budget: { max_steps: 3 } })
  expect(await awaitRun(app, id, run => run.status === 'paused')).toMatchObject({ status_reason: 'budget', turn: 1 })
  await app.call('POST', at('/agent/run/resume'), { agent_run_id: id, prompt: 'Go on.', budget: { max_steps: 10 } })
  const { run, detected, fixed } = await seen(id)
  expect(run).toMatchObject({ status: 'completed', turn: 1 })
  expect([detected.length, fixed.length]).toEqual([1, 1])
  expect(fixed[0]).toMatchObject({ fixed_checks: ['test'] })
})

test('a ban while checks run ends it: no further attempt', async () => {
  await checkBy({ test: `${ask()}; exit 1` })
  const { reached, open } = gate()
  script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
  const id = await start()
  await reached
  await app.call('POST', at('/agent/run/ban'), { agent_run_id: id })
  open()
  const { run, detected } = await seen(id)
  expect([run.status, run.banned, detected]).toEqual(['cancelled', true, []])
})

test('nothing is mended of a pull request that a person has closed meanwhile', async () => {
  await checkBy({ test: ask() })
  const { reached, open } = gate(500)
  script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
  const id = await start()
  await reached
  const run = (await app.call('GET', at(`/agent/run/${id}`))).body
  await app.call('PATCH', at(`/prs/${run.github_pull_requests[0].id}`), { state: 'closed' })
  open()
  const { detected, fixed, pr } = await seen(id)
  expect(detected).toMatchObject([{ attempt: 0, checks: [{ name: 'test' }] }])
  expect(fixed).toMatchObject([{ stopped_because: 'pull_request_ended' }])
  expect(pr.state).toBe('closed')
})

describe('checks of a forge', () => {
  /** A run whose commit has a check of a forge that has not ended, from before its own check is over. */
  async function withForgeCheck(): Promise<{
    id: number
    say(conclusion: 'success' | 'failure' | null, attempt?: number): Promise<unknown>
  }> {
    await checkBy({ own: ask() })
    const { reached, open } = gate()
    const id = await start()
    await reached
    const say = async (conclusion: 'success' | 'failure' | null, attempt = 1) => {
      const [run] = await rows<{ pushed_sha: string }>(app, 'select pushed_sha from runs where id = $1', [id])
      return saveCheck(app.db, app.org_id, app.repo_id, {
        ...{ head_sha: run?.pushed_sha ?? '', source: 'github', name: 'ci', app: 'actions', url: 'https://ci.example.org/1', attempt },
        ...{
          status: conclusion === null ? 'in_progress' : 'completed',
          conclusion,
          log_excerpt: conclusion === 'failure' ? 'not ok' : null,
        },
        ...{ started_at: null, completed_at: null },
      })
    }
    await say(null)
    open()
    return { id, say }
  }
  const waits = (id: number) => awaitRun(app, id, run => run.status === 'waiting' && run.waiting_on === 'ci')

  test('are waited for without a worker; when all have passed the answer is written', async () => {
    script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
    const { id, say } = await withForgeCheck()
    const waiting = await waits(id)
    expect(waiting).toMatchObject({ result: '', phase: null })
    expect((await allLogs(app, id)).some(entry => entry.message_type === 'FINAL_ANSWER')).toBe(false)
    await say('success')
    const { run, checks } = await seen(id)
    expect(run.result).toMatch(/^Made\.\n\nChecks: all 2 checks .* passed\.$/)
    // What has passed at this commit is not run again.
    expect(checks).toHaveLength(1)
  })

  test('that fail go back to the agent like others; where nothing runs again at an unchanged commit it ends', async () => {
    script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }, { text: 'It is not mine.' }]
    const { id, say } = await withForgeCheck()
    await waits(id)
    await say('failure')
    const { run, detected, fixed } = await seen(id)
    expect(detected).toMatchObject([{ checks: [{ name: 'ci', url: 'https://ci.example.org/1', log_excerpt: 'not ok' }] }])
    expect(fixed).toMatchObject([{ stopped_because: 'same_diff', remaining_checks: ['ci'] }])
    expect(run.result).toContain('(same_diff)')
  })

  test('are waited for as long as the service does, and a stop ends the wait at once', async () => {
    script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
    const { id } = await withForgeCheck()
    await waits(id)
    await rows(app, `update journal set created_at = created_at - interval '1 day' where run_id = $1 and kind = 'push_started'`, [id])
    await rows(app, `update runs set deadline_at = now() where id = $1`, [id])
    const { run } = await seen(id)
    expect(run.result).toMatch(/have not all ended\. No further attempt is made, because .* \(time_over\)\.$/)
    script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
    const other = await withForgeCheck()
    await waits(other.id)
    await app.call('POST', at('/agent/run/stop'), { agent_run_id: other.id })
    expect(await awaitEnd(app, other.id)).toMatchObject({ status: 'cancelled' })
  })
})
