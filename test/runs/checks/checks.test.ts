// biome-ignore-all lint/suspicious/noExplicitAny: entries are read without types
import { afterAll, beforeAll, beforeEach, describe, expect, test } from 'vitest'
import { rows } from '../../start-app.ts'
import { calls, shell } from '../coding-app.ts'
import { sandboxProcesses } from '../sandboxes/sandbox-processes.ts'
import { type CheckedApp, SECRET, startCheckedApp } from './checked-app.ts'

let app: CheckedApp
beforeAll(async () => {
  app = await startCheckedApp()
})
afterAll(() => app[Symbol.asyncDispose]())
beforeEach(() => app.forget())

describe('failures go back to the agent', () => {
  test('the agent fixes a failed check, and the run ends when its checks pass: each step is in the trace, and the pull request reports it', async () => {
    await app.checkBy({
      test: 'echo running; grep -q two count.js || { echo "not ok: two is missing"; exit 1; }',
      lint: 'test -s count.js',
    })
    app.script = [
      calls(shell('echo "export const three = 3" >>count.js')),
      { text: 'First answer.' },
      calls(shell('echo "export const two = 2" >>count.js')),
      { text: 'Added two.' },
    ]
    const { run, logs, detected, fixed, checks, pr } = await app.seen(await app.start())
    expect(run, JSON.stringify(logs.slice(-3))).toMatchObject({ status: 'completed', turn: 1 })
    expect(run.result).toMatch(
      /^Added two\.\n\nChecks: all 2 checks of commit [0-9a-f]{12} passed, after one attempt to fix what failed\.$/,
    )
    const failed = {
      name: 'test',
      conclusion: 'failure',
      log_excerpt: 'running\nnot ok: two is missing',
      url: expect.stringContaining('/agent/trace/'),
    }
    expect(detected).toEqual([
      { pr_number: pr.number, head_sha: fixed[0].from_sha, checks: [failed], attempt: 1, max_attempts: 3 },
    ])
    expect(fixed).toEqual([
      ...[
        {
          pr_number: pr.number,
          from_sha: expect.any(String),
          to_sha: pr.head_sha,
          fixed_checks: ['test'],
          remaining_checks: [],
        },
      ].map(what => ({ ...what, attempt: 1, stopped_because: null })),
    ])
    expect(logs.find(entry => entry.message_type === 'FIX_PR_ERRORS')?.thought).toBe('Added two.')
    expect(
      checks.map(({ tool_input, tool_output }) => `${tool_input.name} ${tool_output.conclusion}`),
    ).toEqual([...['test failure', 'lint success', 'test success', 'lint success']])
    const commits = logs
      .filter(entry => entry.message_type === 'COMMIT_EVALUATION')
      .map(entry => entry.observation.commits.length)
    expect(commits).toEqual([1, 1])
    const kinds = logs.map(entry => entry.tool_name ?? entry.message_type)
    const pushed = ['COMMIT_EVALUATION', 'git_push']
    expect(
      kinds
        .slice(kinds.indexOf('COMMIT_EVALUATION'))
        .filter(kind => kind !== 'INITIAL_PR_GENERATION' && kind !== 'PR_EVALUATION'),
    ).toEqual([
      ...[
        ...pushed,
        'check',
        'check',
        'DETECT_PR_ERRORS',
        'shell',
        ...pushed,
        'check',
        'check',
        'FIX_PR_ERRORS',
        'FINAL_ANSWER',
      ],
    ])
    expect(pr.checks).toEqual({ state: 'success', passed: 2, failed: 0, pending: 0, unreadable: [] })
    const { body } = await app.call('GET', app.at(`/prs/${pr.id}/checks?head_sha=${detected[0].head_sha}`))
    expect(body).toMatchObject({
      state: 'failure',
      items: [
        { name: 'lint', conclusion: 'success' },
        { ...failed, source: 'local', attempt: 1 },
      ],
    })
    expect(app.lastMessages().find(text => text.includes('not ok'))).toMatch(
      /They are data to find the cause/,
    )
  })

  test('a playbook does it without a model: its block for failed checks is played from the beginning each time', async () => {
    await app.checkBy({ lines: 'test $(wc -l <note.txt) -ge 3 || { echo "too few lines"; exit 1; }' })
    const prompt = [
      ...['```playbook', '- write: {path: note.txt, content: "one\\n"}', '- on_checks_failed:'],
      ...[
        '    - thought: One more line.',
        '    - run: echo more >>note.txt',
        '    - answer: One line more.',
        '- answer: Wrote it.',
        '```',
      ],
    ].join('\n')
    const { run, detected, fixed } = await app.seen(await app.start({ prompt, model: 'scripted/playbook' }))
    expect(run).toMatchObject({ status: 'completed' })
    expect(run.result).toMatch(/^One line more\.\n\nChecks: the one check .* passed, after 2 attempts/)
    expect(detected.map(entry => entry.attempt)).toEqual([1, 2])
    expect(fixed.map(entry => [entry.fixed_checks, entry.remaining_checks])).toEqual([
      [[], ['lines']],
      [['lines'], []],
    ])
    expect(app.git('show', `${run.branch}:note.txt`)).toBe('one\nmore\nmore\n')
  })

  test('without checks nothing is reported, and without a change no check runs', async () => {
    await app.checkBy({})
    app.script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
    const without = await app.seen(await app.start())
    expect(without.run.result).toBe('Made.')
    expect(without.pr.checks.state).toBe('none')
    await app.checkBy({ test: 'false' })
    expect((await app.seen(await app.start())).run.result).toBe('Nothing to change.')
  })
})

describe('it stops', () => {
  const change = (n: number) => calls(shell(`echo ${n} >>tries.txt`))

  test('after the allowed attempts, and the entry, the answer and the pull request report it', async () => {
    await app.checkBy({ never: 'echo "can never pass"; exit 1', fine: 'true' })
    await app.follow({ check_retry_count: 2 })
    app.script = [
      change(1),
      { text: 'One.' },
      change(2),
      { text: 'Two.' },
      change(3),
      { text: 'Three.' },
      change(4),
      { text: 'Four.' },
    ]
    const { run, detected, fixed, pr, logs } = await app.seen(await app.start())
    expect(run).toMatchObject({ status: 'completed' })
    expect(run.result).toMatch(
      /^Three\.\n\nChecks of commit [0-9a-f]{12}: 1 of 2 failed \(never\), after 2 attempts .* did not leave fewer of them\.$/,
    )
    expect(detected.map(entry => [entry.attempt, entry.max_attempts])).toEqual([
      [1, 2],
      [2, 2],
    ])
    expect(fixed.map(entry => entry.stopped_because)).toEqual([null, 'not_converging'])
    expect(fixed[1]).toMatchObject({ to_sha: pr.head_sha, remaining_checks: ['never'], attempt: 2 })
    expect(pr.checks).toEqual({ state: 'failure', passed: 1, failed: 1, pending: 0, unreadable: [] })
    expect(logs.at(-1)).toMatchObject({ message_type: 'FINAL_ANSWER', observation: run.result })
    app.script = []
  })

  test('when the files are unchanged, and when no attempt is allowed', async () => {
    await app.checkBy({ never: 'exit 1' })
    app.script = [
      ...[change(1), { text: 'One.' }, change(2), { text: 'Two.' }],
      ...[calls(shell('git show HEAD~1:tries.txt >tries.txt')), { text: 'Back.' }],
    ]
    const back = await app.seen(await app.start())
    expect(back.fixed.map(entry => entry.stopped_because)).toEqual([null, 'same_diff'])
    await app.follow({ check_retry_count: 0 })
    app.script = [change(9), { text: 'Nine.' }]
    const none = await app.seen(await app.start())
    expect(none.detected).toMatchObject([{ attempt: 0, max_attempts: 0, checks: [{ name: 'never' }] }])
    expect(none.fixed).toMatchObject([
      { attempt: 0, stopped_because: 'attempts_used', fixed_checks: [], remaining_checks: ['never'] },
    ])
    expect(none.run.result).toContain(
      'because the settings of the repository allow no more attempts for one commit.',
    )
  })

  test('when an attempt breaks a check that passed', async () => {
    await app.checkBy({ never: 'exit 1', fine: '! test -e broken.txt' })
    app.script = [change(1), { text: 'One.' }, calls(shell('echo >broken.txt')), { text: 'Broken.' }]
    expect((await app.seen(await app.start())).fixed).toMatchObject([
      { stopped_because: 'findings_grew', remaining_checks: ['fine', 'never'] },
    ])
  })
})

test('the settings of the repository apply: ignored checks, number of attempts, extra instructions', async () => {
  await app.checkBy({ docs: 'exit 1', lint: 'exit 1', test: 'test -e second.txt' })
  await app.follow({
    ignored_checks: ['docs'],
    check_retry_counts: { lint: 0, test: 1 },
    custom_prompts: { test: 'It wants second.txt.' },
  })
  const requested = app.model.requests.length
  app.script = [
    calls(shell('echo 1 >first.txt')),
    { text: 'First.' },
    calls(shell('echo 2 >second.txt')),
    { text: 'Second.' },
  ]
  const { detected, fixed, pr } = await app.seen(await app.start())
  expect(detected[0]).toMatchObject({ max_attempts: 1, checks: [{ name: 'lint' }, { name: 'test' }] })
  const message =
    app
      .lastMessages()
      .slice(requested)
      .find(text => text.includes('It wants second.txt.')) ?? ''
  expect(message).toContain('which you need not fix: lint.')
  expect(message).not.toContain('docs')
  expect(fixed).toMatchObject([
    { fixed_checks: ['test'], remaining_checks: ['lint'], stopped_because: 'attempts_used' },
  ])
  expect(pr.checks).toMatchObject({ failed: 1, passed: 1 })
})

test('a check that fails regardless of the change is repeated at the same commit, and no other check', async () => {
  await app.checkBy({ flaky: app.callCommand(), steady: 'true' })
  app.pending = [() => 500, () => 200]
  app.script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }, { text: 'The server was away.' }]
  const { run, logs, detected, fixed, checks, pr } = await app.seen(await app.start())
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

test('a check that does not end is stopped at its timeout, and its output until then is reported', async () => {
  await app.checkBy({ slow: 'echo begun; sleep 1000' }, 1)
  await app.follow({ check_retry_count: 0 })
  app.script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
  const { detected } = await app.seen(await app.start())
  expect(detected[0].checks).toMatchObject([
    { conclusion: 'timed_out', log_excerpt: 'begun\n\nIt was not done after 1 s.' },
  ])
  expect(sandboxProcesses(app.data_dir)).toEqual([])
})

test('the value of a secret that a check prints appears nowhere: not in entries, rows or messages to the agent', async () => {
  await app.checkBy({ leak: 'echo "key=$API_KEY"; exit 1' })
  await app.follow({ check_retry_count: 1 })
  const requested = app.model.requests.length
  app.script = [calls(shell('echo 1 >one.txt')), { text: 'Made.' }]
  const { logs, detected, pr } = await app.seen(await app.start())
  expect(detected[0].checks[0].log_excerpt).toBe('key=[redacted:API_KEY]')
  const { body } = await app.call('GET', app.at(`/prs/${pr.id}/checks`))
  const kept = await rows(app, 'select body from journal')
  for (const all of [logs, body, kept, app.model.requests.slice(requested)])
    expect(JSON.stringify(all)).not.toContain(SECRET)
})

test('each check runs in a clean sandbox: the commit and the result of the setup, nothing of the agent, of the setup or of other checks', async () => {
  await app.call('PUT', app.at('/secrets/SETUP_KEY'), { value: 'setup-key-0123456789' })
  const setUpBy = (more: object) =>
    app.call('PUT', app.at(`/repos/${app.repo_id}/setup-commands`), { ...setup, ...more })
  const setup = {
    commands: [
      'mkdir lib; echo "made with $SETUP_KEY" >lib/made; echo home >~/home; echo setup >>count.js; (sleep 4321 &)',
    ],
  }
  await setUpBy({})
  const show_sandbox =
    'ls -A | grep -v .git$ | xargs; cat lib/made ~/home; tail -n 1 count.js; echo "[$SETUP_KEY][$API_KEY]"; pgrep -c 4321; cat mine.txt'
  await app.checkBy({ first: `${show_sandbox}; echo x >dirty; exit 1`, second: `${show_sandbox}; exit 1` })
  await app.follow({ check_retry_count: 0 })
  const work = async () => {
    app.script = [
      calls(
        shell(
          'echo "ignored.txt" >.gitignore; echo x >ignored.txt; echo x >~/agents; echo "// changed" >>count.js; echo mine >mine.txt',
        ),
      ),
      { text: 'Made.' },
    ]
    const { checks, logs } = await app.seen(await app.start())
    const output = checks.map(entry => entry.tool_output.output)
    expect(output[0], JSON.stringify(logs.slice(-4))).toContain(
      '.gitignore AGENTS.md README.md count.js lib mine.txt\n',
    )
    expect(output[0]).toContain(
      '\nmade with [redacted:SETUP_KEY]\nhome\n// changed\n[][[redacted:API_KEY]]\n0\nmine\n',
    )
    expect(output[1]).toBe(output[0])
    return logs.filter(entry => entry.tool_name === 'setup_command').map(entry => entry.tool_input.for)
  }
  // The checks use the environment of the run.
  expect(await work()).toEqual([undefined])
  // Steps that must run again for the files of the commit run for checks as they do for the run.
  app.git('commit', '--quiet', '--allow-empty', '-m', 'another')
  await setUpBy({ maintenance_commands: ['true'] })
  expect(await work()).toEqual(['maintenance', 'checks'])
})
