import { expect, test } from 'vitest'
import { type CompletionReason, completionReasons } from '../../contract/runs/runs.ts'
import { completionOf, type OutcomeFacts } from './completion.ts'

const facts: Record<CompletionReason, OutcomeFacts> = {
  no_effect: { had_effect: false },
  push_refused: { push_refusal: 'The remote refused the branch x.' },
  pull_request_refused: { pull_request_refusal: 'Resource not accessible.' },
  checks_failed: { checks: { outcome: 'failed', summary: 'Checks of commit 1: 1 of 1 failed (test).' } },
  checks_unfinished: { checks: { outcome: 'unfinished', summary: 'Checks of commit 1 have not all ended.' } },
  work_lost: { lost_actions: Array.from({ length: 50 }, (_, i) => i + 1) },
  last_response_missing: { last_response_missing: true },
  review_failed: { failed_reviews: ['problems in commit 1 remain', 'pull request 2 does not pass'] },
  setup_failed: { failed_setup: ['npm ci', 'make', 'a'.repeat(500), 'last'] },
  setup_unverified: { setup_verified: false },
  tool_failed: { tool_status: 'timeout' },
  explanation_failed: { explanation_missing: true },
}

test.each(completionReasons)('%s alone is the reason, and the answer names it in one sentence', reason => {
  const { reason: found, sentences } = completionOf(facts[reason])
  expect(found).toBe(reason)
  expect(sentences).toHaveLength(1)
  expect(sentences[0]).toMatch(/^[A-Z][^\n]{10,900}\.$/)
})

test('a turn that did everything has no reason, whatever kind of turn it is', () => {
  const done: OutcomeFacts = {
    had_effect: true,
    uncommitted: [],
    lost_actions: [],
    last_response_missing: false,
    push_refusal: null,
    pull_request_refusal: null,
    checks: null,
    failed_reviews: [],
  }
  const nothing = { reason: null, sentences: [] }
  expect(completionOf({})).toEqual(nothing)
  expect(
    completionOf({
      ...done,
      failed_setup: [],
      setup_verified: true,
      tool_status: 'ok',
      explanation_missing: false,
    }),
  ).toEqual(nothing)
})

test('of two reasons that hold together the earlier one is reported, and the answer names both', () => {
  const order = new Map(completionReasons.map((reason, i) => [reason, i]))
  for (const one of completionReasons)
    for (const other of completionReasons.filter(
      reason => facts[reason].checks === undefined || facts[one].checks === undefined,
    )) {
      if (one === other) continue
      const { reason, sentences } = completionOf({ ...facts[one], ...facts[other] })
      const first = (order.get(one) ?? 0) < (order.get(other) ?? 0) ? one : other
      expect({ one, other, reason }).toEqual({ one, other, reason: first })
      expect(sentences).toHaveLength(2)
    }
})

test('a long list of failed setup commands stays short', () => {
  const [sentence = ''] = completionOf(facts.setup_failed).sentences
  expect(sentence).toContain('`npm ci`, `make`')
  expect(sentence).toContain('and 1 more')
  expect(sentence.length).toBeLessThan(400)
})

test('an answer without a call of the model, and without an effect, is named as that', () => {
  expect(completionOf({ had_effect: false, answered: true })).toEqual({
    reason: 'no_effect',
    sentences: ['The agent answered without a call of the model and changed nothing.'],
  })
  expect(completionOf({ had_effect: true, answered: true })).toEqual({ reason: null, sentences: [] })
})

test('an agent that changed only what git leaves out had no effect, and the paths are named', () => {
  const { reason, sentences } = completionOf({
    had_effect: true,
    uncommitted: ['lib', 'a', 'b', 'c', 'd', 'e'],
  })
  expect(reason).toBe('no_effect')
  expect(sentences[0]).toMatch(/`lib`, `a`, `b`, `c`, `d` and 1 more\.$/)
})

test('an agent that did nothing, and whose last call has no response, is named by both reasons', () => {
  const { reason, sentences } = completionOf({
    had_effect: false,
    answered: true,
    last_response_missing: true,
  })
  expect(reason).toBe('no_effect')
  expect(sentences.map(sentence => sentence.split(',')[0])).toEqual([
    'The agent answered without a response of the model to its last call and changed nothing.',
    'The last call of the model has no response',
  ])
})
