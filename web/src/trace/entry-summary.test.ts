import { expect, test } from 'vitest'
import type { LogEntry, MessageType } from '../../../src/contract/runs/logs.ts'
import { MessageTypes } from '../api/names.ts'
import { entrySummary } from './entry-summary.ts'

const entry = (message_type: MessageType, fields: Partial<LogEntry> = {}): LogEntry => ({
  agent_run_id: 1,
  seq: 1,
  created_at: '2026-11-20T10:00:00.000Z',
  message_type,
  thought: null,
  tool_name: null,
  tool_input: null,
  tool_output: null,
  observation: null,
  turn: 1,
  duration_ms: null,
  truncated: false,
  artifact_url: null,
  ...fields,
})

test('every kind of entry has a label, even without content', () => {
  for (const type of MessageTypes) expect(entrySummary(entry(type)).label, type).not.toBe('')
})

test('a shell call shows its command, and its exit code when it failed', () => {
  const call = (exit_code: number) =>
    entrySummary(
      entry('ACTION', {
        tool_name: 'shell',
        tool_input: { command: 'npm test\nnpm run lint' },
        tool_output: { status: exit_code === 0 ? 'ok' : 'error', exit_code, output: '' },
      }),
    )
  expect(call(0)).toMatchObject({
    kind: 'shell',
    label: 'shell',
    line: 'npm test',
    tone: 'neutral',
    note: null,
  })
  expect(call(2)).toMatchObject({ tone: 'bad', note: 'exit 2' })
})

test('calls of agents of other vendors are shown by their kind and title', () => {
  const call = (tool_name: string, tool_input: Record<string, unknown>) =>
    entrySummary(entry('ACTION', { tool_name, tool_input }))
  expect(call('Bash', { title: 'ls -la', kind: 'execute', command: 'ls' })).toMatchObject({
    kind: 'shell',
    label: 'Bash',
    line: 'ls',
  })
  expect(call('run_shell_command', { title: 'ls', kind: 'execute' })).toMatchObject({
    kind: 'shell',
    line: 'ls',
  })
  expect(call('execute', { title: 'ls' })).toMatchObject({ kind: 'shell', line: 'ls' })
  expect(
    call('Write', { title: 'Write two.js', kind: 'edit', file_path: '/workspace/two.js' }),
  ).toMatchObject({ line: 'Write two.js' })
  expect(call('TodoWrite', { title: 'Update', kind: 'other', todos: [] })).toMatchObject({
    kind: 'tool',
    line: 'Update',
  })
})

test('a compaction shows how, and the tokens before and after', () => {
  const summary = entrySummary(
    entry('ACTION', {
      tool_name: 'context_compacted',
      tool_input: { tokens: 52_000 },
      tool_output: { status: 'ok', how: 'summarized', tokens: 18_000 },
    }),
  )
  expect(summary).toMatchObject({
    kind: 'compaction',
    line: 'Earlier steps summarized: about 52,000 tokens, now 18,000',
    tone: 'neutral',
  })
})

test('an edit shows its file, and a patch all of its files', () => {
  const line = (tool_name: string, tool_input: Record<string, unknown>) =>
    entrySummary(entry('ACTION', { tool_name, tool_input, tool_output: { status: 'ok' } })).line
  expect(line('edit', { path: 'a.ts', edits: [] })).toBe('a.ts')
  const patch =
    '*** Begin Patch\n*** Update File: a.ts\n-a\n+*** Delete File: x\n*** Add File: b c.md\n+b\n*** End Patch'
  expect(line('apply_patch', { patch })).toBe('a.ts, b c.md')
})

test('a tool that was interrupted shows how', () => {
  const ended = (status: string) =>
    entrySummary(
      entry('ACTION', { tool_name: 'shell', tool_input: {}, tool_output: { status, exit_code: null } }),
    ).note
  expect([ended('timeout'), ended('interrupted'), ended('error')]).toEqual([
    'timed out',
    'interrupted',
    'failed',
  ])
})

test('an unknown tool shows its input', () => {
  expect(entrySummary(entry('ACTION', { tool_name: 'deploy', tool_input: { where: 'here' } }))).toMatchObject(
    {
      kind: 'tool',
      label: 'deploy',
      line: '{"where":"here"}',
    },
  )
})

test('an error that will be retried is a warning', () => {
  const error = (retryable: boolean) =>
    entrySummary(
      entry('ERROR', {
        observation: { code: 'rate_limited', message: 'Slow down', retryable, phase: 'model' },
      }),
    )
  expect(error(true)).toMatchObject({ tone: 'warn', line: 'Slow down', note: 'rate_limited' })
  expect(error(false).tone).toBe('bad')
})

test('a plan counts what is done, a pull request its lines', () => {
  const plan = entry('PLAN_EVALUATION', {
    thought: 'First',
    observation: { plan: [{ state: 'done' }, { state: 'pending' }] },
  })
  expect(entrySummary(plan)).toMatchObject({ line: 'First', note: '1 of 2' })
  const pr = entry('INITIAL_PR_GENERATION', {
    observation: { pr_number: 3, title: 'Fix', additions: 4, deletions: 1 },
  })
  expect(entrySummary(pr)).toMatchObject({ line: '#3 Fix', note: '+4 −1' })
})

test('a review shows its verdict, and a negative one has the tone of an error', () => {
  const review = (verdict: string) =>
    entrySummary(entry('COMMIT_EVALUATION', { observation: { verdict, findings: [] } }))
  expect(review('pass')).toMatchObject({ label: 'Commit review', note: 'pass', tone: 'neutral' })
  expect(review('fail')).toMatchObject({ note: 'fail', tone: 'bad' })
})

test('failing checks are named, and the outcome of an attempt names those that pass, those that do not, and why it stopped', () => {
  const detected = { checks: [{ name: 'test' }, { name: 'lint' }], attempt: 1, max_attempts: 3 }
  expect(entrySummary(entry('DETECT_PR_ERRORS', { observation: detected }))).toMatchObject({
    label: 'Checks failed',
    line: 'test, lint',
    tone: 'bad',
    note: 'attempt 1 of 3',
  })
  const fixed = (fixed_checks: string[], remaining_checks: string[], stopped_because: string | null) =>
    entrySummary(
      entry('FIX_PR_ERRORS', {
        thought: 'x',
        observation: { fixed_checks, remaining_checks, stopped_because },
      }),
    )
  expect(fixed(['test'], [], null)).toMatchObject({
    label: 'Checks fixed',
    line: 'test passes now',
    tone: 'ok',
    note: null,
  })
  expect(fixed(['a', 'b'], ['lint'], null)).toMatchObject({
    line: 'a, b pass now; lint still fails',
    tone: 'warn',
  })
  expect(fixed([], ['lint'], 'not_converging')).toMatchObject({
    label: 'Stopped retrying checks',
    tone: 'bad',
    note: 'no progress',
  })
  expect(fixed([], [], 'a word of a later version')).toMatchObject({ note: 'a word of a later version' })
})

test('a check shows its name and its command', () => {
  const check = {
    tool_name: 'check',
    tool_input: { name: 'test', command: 'npm test' },
    tool_output: { status: 'error', exit_code: 1 },
  }
  expect(entrySummary(entry('ACTION', check))).toMatchObject({
    kind: 'shell',
    line: 'test: npm test',
    note: 'exit 1',
  })
})

test('a line is one line, short, and without escape sequences or bidi controls', () => {
  const { line } = entrySummary(
    entry('FINAL_ANSWER', {
      observation: `\n\u001b[31mred\u001b[0m \u202Egpj.exe ${'x'.repeat(1000)}\nnext`,
    }),
  )
  expect(line).toMatch(/^red ⟨U\+202E⟩gpj\.exe x+…$/)
  expect(line.length).toBeLessThanOrEqual(301)
})

test('observations of any shape do not break the page', () => {
  for (const type of MessageTypes) {
    for (const observation of [
      'text',
      { plan: 'no list' },
      { plan: [null, 1, 'x', {}] },
      { message: { deep: true } },
      {},
    ]) {
      expect(() =>
        entrySummary(entry(type, { observation, tool_input: { command: 5 }, tool_output: { status: [] } })),
      ).not.toThrow()
    }
  }
})

test('an entry about another run names how they are related', () => {
  const line = (observation: Record<string, unknown>) => {
    const { label, line } = entrySummary(entry('AGENT_RUN_LINK', { observation }))
    return `${label} ${line}`
  }
  expect(line({ relation: 'parent', agent_run_id: 5 })).toBe('Parent run #5')
  expect(line({ relation: 'fork', agent_run_id: 6 })).toBe('Fork #6')
  expect(line({ relation: 'constructor', agent_run_id: 7 })).toBe('Linked run #7')
})
