import { expect, test } from 'vitest'
import { analyzeRun } from './analyze-run.ts'
import { analyzeRuns } from './analyze-runs.ts'
import type { Entry, Finding } from './finding.ts'
import { summarize } from './summary.ts'

/** Entries of a run in their order; `seq` counts them. */
const trace = (run_id: number, ...entries: Partial<Entry>[]): Entry[] =>
  entries.map((one, i) => ({
    agent_run_id: run_id,
    seq: i + 1,
    turn: 1,
    message_type: 'ACTION',
    tool_name: null,
    tool_input: null,
    tool_output: null,
    observation: null,
    duration_ms: 10,
    ...one,
  }))
const shell = (command: string, exit_code: number, output = '', duration_ms = 10): Partial<Entry> => ({
  tool_name: 'shell',
  tool_input: { command },
  duration_ms,
  tool_output: { status: exit_code === 0 ? 'ok' : 'error', exit_code, output },
})
const check = (name: string, head_sha: string, ok: boolean): Partial<Entry> => ({
  tool_name: 'check',
  tool_input: { name, command: 'npm test', head_sha },
  tool_output: {
    status: ok ? 'ok' : 'error',
    conclusion: ok ? 'success' : 'failure',
    exit_code: ok ? 0 : 1,
    output: '',
  },
})
const error = (code: string, message: string, phase: string): Partial<Entry> => ({
  message_type: 'ERROR',
  observation: { code, message, phase },
})
const blocked = (host: string, command: string): Partial<Entry> => ({
  tool_name: 'egress_blocked',
  tool_input: { host, port: 443, method: 'CONNECT' },
  tool_output: { status: 'error', reason: 'not_allowed', why: `no rule allows ${host}`, command },
})
const edit: Partial<Entry> = { tool_name: 'edit', tool_input: {}, tool_output: { status: 'ok' } }
const run = (id: number, ...entries: Partial<Entry>[]) =>
  analyzeRun({ id, repository_id: 7, base_sha: 'abc' }, trace(id, ...entries), async () => {})
const summariesOf = (findings: readonly Finding[]) =>
  findings.map(({ code, severity, seq }) => `${severity} ${code} ${seq}`)

test('the root cause precedes its consequences', async () => {
  const { findings } = await run(
    1,
    blocked('registry.npmjs.org', 'npm ci'),
    {
      ...shell('npm ci', 1, 'npm error code ECONNREFUSED\nnpm error connect ECONNREFUSED'),
      tool_name: 'setup_command',
    },
    error('setup_command_failed', 'Setup command 1 of 1 failed with exit code 1: npm ci', 'setup'),
  )
  expect(summariesOf(findings)).toEqual([
    'error network_refused 1',
    'error connection_refused 2',
    'warning run_setup_command_failed 3',
    'info command_failed 2',
  ])
  expect(findings[0]).toMatchObject({
    message: expect.stringContaining('registry.npmjs.org:443'),
    cause: 'no rule allows registry.npmjs.org',
  })
})

test('a failure that later passed is resolved, and a harmless refusal is only informational', async () => {
  const { findings } = await run(
    1,
    blocked('telemetry.example.com', 'npm run build'),
    shell('npm run build', 0),
    shell('CI=1 npm test', 1, "Error: Cannot find module 'x'"),
    shell('npm ci', 0),
    shell('cd . && npm test 2>&1 | tail', 0),
    shell('python3 a.py', 1, "ModuleNotFoundError: No module named 'y'"),
  )
  expect(summariesOf(findings)).toEqual([
    'error python_module_not_found 6',
    'info network_refused 1',
    'info node_module_not_found 3',
    'info command_failed 3',
    'info command_failed 6',
  ])
  expect(findings[2]?.message).toContain('#5')
})

test('other use of the same program does not resolve a failure', async () => {
  const failed = shell('( npm test ) || false', 1, "Error: Cannot find module 'x'")
  const codes = async (later: string) => (await run(1, failed, shell(later, 0))).findings[0]?.severity
  expect(await codes('npm --version')).toBe('error')
  expect(await codes('npm test -- one')).toBe('warning')
  expect(await codes('CI=1 npm test')).toBe('info')
})

test('the same failure repeatedly, the slowest steps, and tools that reported the rest', async () => {
  const { findings } = await run(
    1,
    shell('make', 2, "make: *** No rule to make target 'x'.  Stop.", 9_000),
    shell('make', 2, "make: *** No rule to make target 'x'.  Stop."),
    edit,
    shell('make', 2, "make: *** No rule to make target 'x'.  Stop.", 6_000),
    error('tool_timeout', 'The command ran longer', 'tool'),
  )
  expect(summariesOf(findings)).toEqual([
    'error no_rule_to_make 1',
    'warning repeated_failure 1',
    'info command_failed 1',
    'info slowest_steps 1',
  ])
  expect(findings[0]).toMatchObject({ count: 3, entries: [2, 4] })
  expect(findings[3]?.message).toContain('make 9.0 s (#1), make 6.0 s (#4)')
})

test('a run that ended for a reason outside of its commands', async () => {
  const { findings } = await run(1, shell('true', 0), error('model_auth', 'The key was refused.', 'model'))
  expect(findings[0]).toMatchObject({
    code: 'run_model_auth',
    severity: 'error',
    cause: 'The key was refused.',
    seq: 2,
  })
})

test('a command that fails and passes on the same files is flaky; after a change it is not', async () => {
  const again = (await run(1, shell('npm test', 1, 'x'), shell('npm test', 0))).findings
  expect(again.find(({ code }) => code === 'flaky')).toMatchObject({ seq: 1, entries: [2] })
  expect(
    (await run(1, shell('npm test', 1, 'x'), edit, shell('npm test', 0))).findings.some(
      ({ code }) => code === 'flaky',
    ),
  ).toBe(false)
  const checks = (await run(1, check('ci', 'c1', false), check('ci', 'c2', true))).findings
  expect(checks.some(({ code }) => code === 'flaky')).toBe(false)
  expect(
    (await run(1, check('ci', 'c1', false), check('ci', 'c1', true))).findings.some(
      ({ code }) => code === 'flaky',
    ),
  ).toBe(true)
})

test('over runs: the same failure is one finding, despite different times and folders, and flaky is detected across them', async () => {
  const failure = (n: number) =>
    `2026-11-0${n}T10:00:00Z error in /tmp/build-${n}/x.c: invalid frob 0x${n}abc after ${n}.5 s`
  const runs = await Promise.all([1, 2, 3].map(n => run(n, shell('npm test', 1, failure(n)))))
  const found = analyzeRuns([
    ...runs,
    await run(4, shell('npm test', 0)),
    await run(5, shell('ruby x', 1, 'kaputt')),
  ])
  expect(found[0]).toMatchObject({ code: 'command_failed', agent_run_id: 1, agent_run_ids: [2, 3], count: 3 })
  expect(found.find(({ code }) => code === 'flaky')).toMatchObject({
    agent_run_id: 1,
    agent_run_ids: [2, 3, 4],
  })
  expect(found.filter(({ code }) => code === 'command_failed')).toHaveLength(2)
})

test('the answer as text names the root cause, its location and what was left out', async () => {
  const analyzed = { runs: 1, entries: 3, commands: 1, left_out: ['entries after #3'] }
  const { findings } = await run(12, shell('node a.js', 1, "Error: Cannot find module 'x'"))
  expect(summarize(findings, analyzed)).toMatch(
    /^A module is not found: x\. .* \(run 12, #1\) Analyzed 1 command in 3 entries\. Left out: entries after #3\.$/,
  )
  expect(summarize([], { ...analyzed, left_out: [] })).toBe(
    'No failure was found. Analyzed 1 command in 3 entries.',
  )
})
