import { expect, test } from 'vitest'
import type { LogFinding } from '../contract/runs/log-analysis.ts'
import { linked, namedEntries } from './explanation.ts'
import { finding } from './finding.ts'
import { fitting, resultText } from './result.ts'

const shown = (message: string, more: Partial<LogFinding> = {}): LogFinding => ({
  ...finding({ code: 'c', severity: 'error', message, agent_run_id: 12, seq: 9 }),
  sandbox_id: null,
  url: 'http://x/agent/trace/12#e9',
  ...more,
})

test('existing entries become links, and invented ones of a model are marked as missing', () => {
  const explanation = {
    explanation: 'First #9 failed, then #999; see a#1 and [#9](y).',
    references: [
      { agent_run_id: 12, seq: 9 },
      { agent_run_id: 12, seq: 9 },
      { agent_run_id: 13, seq: 9 },
    ],
  }
  const known = [{ agent_run_id: 12, seq: 9 }]
  expect(namedEntries(explanation, 12)).toContainEqual({ agent_run_id: 12, seq: 999 })
  expect(linked(explanation, 12, known, 'http://x')).toBe(
    [
      'First [#9](http://x/agent/trace/12#e9) failed, then #999 (there is no such entry); see a#1 and [#9](y).',
      'Entries: [#9](http://x/agent/trace/12#e9)',
      'Left out, because there are no such entries: #9',
    ].join('\n\n'),
  )
  expect(linked(explanation, null, known, 'http://x')).toContain('run 13, #9')
})

test('the text of a log is shown literally, and creates no Markdown of its own', () => {
  const text = resultText(
    'In [short](x).',
    [shown('[click](http://evil) <b> `x[y]` `\nnext', { excerpt: '```\nevil\n```' })],
    'Explained.',
  )
  const first_finding =
    '**error: \\[click\\](http://evil) \\<b\\> `x[y]` \\` next** ([run 12, #9](http://x/agent/trace/12#e9))'
  expect(text.split('\n\n').slice(0, 3)).toEqual(['Explained.', 'In \\[short\\](x).', first_finding])
  expect(text).toContain('````text\n```\nevil\n```\n````')
})

test('as many findings as fit into an entry', () => {
  const many = Array.from({ length: 300 }, (_, i) => shown(`${i} ${'x'.repeat(1_000)}`))
  const { findings, left_out } = fitting(many)
  expect(findings.length + left_out).toBe(300)
  expect(JSON.stringify(findings).length).toBeLessThan(100 * 1024)
  expect(findings[0]).toEqual(many[0])
})
