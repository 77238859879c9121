import { expect, test } from 'vitest'
import type { LogEntry } from '../sdk/operations.ts'
import { entryLines } from './entry-lines.ts'

const layout = { style: (_: string, text: string) => text, width: null }
const entry = (values: Partial<LogEntry>): LogEntry => ({
  agent_run_id: 1,
  seq: 7,
  created_at: '2026-11-20T10:30:00.000Z',
  turn: 1,
  message_type: 'ACTION',
  thought: null,
  tool_name: null,
  tool_input: null,
  tool_output: null,
  observation: null,
  duration_ms: null,
  truncated: false,
  artifact_url: null,
  ...values,
})
const shown = (values: Partial<LogEntry>) => entryLines(entry(values), layout).join('\n')

test.each([
  [
    'COMMIT_EVALUATION',
    { commits: [{ subject: 'Fix the total' }], verdict: 'pass', findings: [{}] },
    'Fix the total · pass · 1 finding',
  ],
  ['PR_EVALUATION', { verdict: 'fail', findings: [{}, {}] }, 'fail · 2 findings'],
  ['INITIAL_PR_GENERATION', { pr_number: 3, title: 'Fix' }, '#3 Fix'],
  [
    'DETECT_PR_ERRORS',
    { checks: [{ name: 'test' }, { name: 'lint' }], attempt: 1, max_attempts: 3 },
    'failed: test, lint; attempt 1 of 3',
  ],
  ['FIX_PR_ERRORS', { fixed_checks: ['test'], remaining_checks: [] }, 'fixed: test; still failing: none'],
  ['AGENT_RUN_LINK', { relation: 'child', agent_run_id: 5 }, 'child run 5'],
] as const)('%s is shown as text, not as JSON', (message_type, observation, text) => {
  expect(shown({ message_type, observation: { ...observation } })).toMatch(
    new RegExp(`${text.replace(/[#.]/g, '.')}$`),
  )
})

test.each([
  [
    'git_clone',
    { repository: 'acme/app', base_ref: 'main', sha: 'abc', branch: 'agent/1' },
    null,
    'acme/app at main',
  ],
  ['git_push', { repository: 'acme/app', branch: 'agent/1', sha: 'abc' }, null, 'agent/1'],
  [
    'repository_instructions',
    { looked_for: ['AGENTS.md'] },
    { status: 'ok', path: 'AGENTS.md' },
    'AGENTS.md',
  ],
  ['context_compacted', { tokens: 1200 }, null, 'tokens 1200'],
])('%s is shown as text, not as JSON', (tool_name, tool_input, tool_output, text) => {
  expect(shown({ tool_name, tool_input, tool_output }).split(`${tool_name} `)[1]).toBe(text)
})

test('the end of the output of a command is shown below it, more of a failed one', () => {
  const output = Array.from({ length: 30 }, (_, n) => `line ${n + 1}`).join('\n')
  const action = (exit_code: number) =>
    shown({
      tool_name: 'shell',
      tool_input: { command: 'npm test' },
      tool_output: { status: 'ok', exit_code, output },
    })
  expect(action(0).split('\n').slice(1)).toEqual([
    '      … 25 lines before',
    ...[26, 27, 28, 29, 30].map(n => `      line ${n}`),
  ])
  expect(action(1).split('\n')).toHaveLength(17)
  expect(action(1)).toContain('line 30')
})

test('a command without output, and another tool, are one line', () => {
  expect(
    shown({
      tool_name: 'shell',
      tool_input: { command: 'true' },
      tool_output: { status: 'ok', exit_code: 0, output: '' },
    }).split('\n'),
  ).toHaveLength(1)
  expect(
    shown({
      tool_name: 'read',
      tool_input: { path: 'a' },
      tool_output: { status: 'ok', output: 'x\ny' },
    }).split('\n'),
  ).toHaveLength(1)
})
