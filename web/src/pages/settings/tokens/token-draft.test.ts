import { expect, test } from 'vitest'
import { emptyDraft, missingIn, requestOf } from './token-draft.ts'
import { tokenState } from './tokens-query.ts'

const draft = { ...emptyDraft(null), name: 'nightly' }

test('a token expires after its lifetime, at the end of its last day, or never', () => {
  expect(requestOf(draft)).toMatchObject({
    name: 'nightly',
    user_id: null,
    scopes: null,
    expires_in_seconds: 90 * 86_400,
  })
  const dated = requestOf({ ...draft, lifetime: 'date', last_day: '2027-02-28' })
  expect(dated.expires_at).toBe(new Date(2027, 1, 28, 23, 59, 59).toISOString())
  expect(dated).not.toHaveProperty('expires_in_seconds')
  expect(Object.keys(requestOf({ ...draft, lifetime: 'never' }))).not.toContain('expires_at')
})

test('a restriction without a choice is not sent: it would create a token without a restriction', () => {
  expect(missingIn(draft)).toBeNull()
  expect(missingIn({ ...draft, name: ' ' })).toBe('Enter a name first')
  expect(missingIn({ ...draft, lifetime: 'date' })).toBe('Choose the last day first')
  expect(missingIn({ ...draft, scopes: [] })).toBe('Choose a scope first')
  expect(missingIn({ ...draft, repository_ids: [] })).toBe('Choose a repository first')
})

test('a revoked token is never shown as active or expired', () => {
  const now = Date.parse('2026-11-20T10:00:00.000Z')
  expect(tokenState({ revoked_at: null, expires_at: null }, now)).toBe('active')
  expect(tokenState({ revoked_at: null, expires_at: '2026-11-20T10:00:00.000Z' }, now)).toBe('expired')
  expect(
    tokenState({ revoked_at: '2026-11-19T10:00:00.000Z', expires_at: '2026-11-18T10:00:00.000Z' }, now),
  ).toBe('revoked')
})
