import { review_tools } from '../contract/pull-requests/reviews.ts'
import { findPlaybook, type PlaybookVerdict } from '../core/runs/playbook.ts'
import { textOf } from './conversation.ts'
import { isPrompt, type ModelMessage, type ModelRequest } from './port.ts'
import type { Move } from './scripted-steps.ts'

/** Returns the playbook's answer to a question beside the conversation; null: it is no such question. */
export function verdictMove({ messages, tools }: ModelRequest): Move | null {
  const tool = tools.map(({ name }) => name).find(name => Object.values<string>(review_tools).includes(name))
  if (tool === undefined) return null
  const verdict = tool === review_tools.words ? null : verdictOf(messages, tool === review_tools.commit ? 'evaluate_commit' : 'evaluate_pr')
  return { text: '', reasoning: null, calls: verdict === null ? [] : [{ name: tool, input: inputOf(verdict) }] }
}

function verdictOf(messages: ModelMessage[], key: 'evaluate_commit' | 'evaluate_pr'): PlaybookVerdict | null {
  const found = messages.filter(isPrompt).map(message => findPlaybook(textOf(message)))
  const latest = found.findLast(playbook => playbook?.ok)
  return latest?.ok ? latest.playbook[key] : null
}

const PASSES = new Set(['pass', 'approve', 'approved', 'ok'])
const FAILS = new Set(['fail', 'reject', 'rejected', 'request_changes'])

/** Any other word stays unchanged and makes the verdict unusable. */
function inputOf({ verdict, findings }: PlaybookVerdict) {
  const word = verdict.trim().toLowerCase()
  return {
    verdict: PASSES.has(word) ? 'pass' : FAILS.has(word) ? 'fail' : verdict,
    findings: findings.map(finding => ({ ...finding, severity: finding.severity ?? 'warning' })),
  }
}
