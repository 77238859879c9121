import { REVIEW_TOOL } from '../contract/pull-requests/reviews.ts'
import { findPlaybook, type PlaybookVerdict } from '../core/runs/playbook.ts'
import { isPrompt, type ModelRequest } from './port.ts'
import { textOf } from './scripted-messages.ts'
import type { Move } from './scripted-steps.ts'

/**
 * Returns the playbook's response to a review, with the verdicts that it contains; null: the request is no
 * review.
 */
export function verdictMove({ messages, tools }: ModelRequest): Move | null {
  if (!tools.some(({ name }) => name === REVIEW_TOOL)) return null
  const found = messages.filter(isPrompt).map(message => findPlaybook(textOf(message)))
  const latest = found.findLast(playbook => playbook?.ok)
  const { evaluate_commit = null, evaluate_pr = null } = latest?.ok ? latest.playbook : {}
  const input = {
    ...(evaluate_commit && inputOf(evaluate_commit)),
    ...(evaluate_pr && { pull_request: inputOf(evaluate_pr) }),
  }
  return {
    text: '',
    reasoning: null,
    calls: Object.keys(input).length > 0 ? [{ name: REVIEW_TOOL, input }] : [],
  }
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
