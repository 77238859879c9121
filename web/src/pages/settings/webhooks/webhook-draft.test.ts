import { expect, test } from 'vitest'
import { draftOf, missingIn, newSecret, requestOf } from './webhook-draft.ts'

const none = {
  url: null,
  enabled: false,
  has_secret: false,
  events: null,
  previous_secret_until: null,
  failures: 0,
  rests_until: null,
  disabled_at: null,
  disabled_reason: null,
}
const url = 'https://hooks.example.com/runs'

test('a saved webhook keeps the secret that the page never sees, unless another one is typed or it is removed', () => {
  const draft = draftOf({ ...none, url, enabled: true, has_secret: true, events: ['agent_run.finished'] })
  expect(requestOf(draft)).toEqual({ url, enabled: true, events: ['agent_run.finished'], secret: undefined })
  expect(requestOf({ ...draft, secret: 'whsec_x' }).secret).toBe('whsec_x')
  expect(requestOf({ ...draft, secret: 'typed before', remove_secret: true }).secret).toBeNull()
})

test('a new webhook is enabled, one that a person switched off stays off, and saving enables one that the service disabled', () => {
  expect(draftOf(none).enabled).toBe(true)
  expect(draftOf({ ...none, url }).enabled).toBe(false)
  expect(draftOf({ ...none, url, disabled_at: '2026-11-20T10:30:00.000Z' }).enabled).toBe(true)
})

test('a restriction to no event is not sent: it would be refused', () => {
  const draft = { ...draftOf(none), url }
  expect(missingIn(draft)).toBeNull()
  expect(missingIn({ ...draft, url: ' ' })).toBe('Enter the address first')
  expect(missingIn({ ...draft, events: [] })).toBe('Choose an event first')
})

test('a generated secret has the form of Standard Webhooks with 32 random bytes', () => {
  const [, base64 = ''] = newSecret().split('_')
  expect(Buffer.from(base64, 'base64')).toHaveLength(32)
  expect(newSecret()).not.toBe(newSecret())
})
