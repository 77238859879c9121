import { expect, test } from 'vitest'
import { detailText } from './detail-text.ts'

test('a change is shown with its values before and after, and what has no value is left out', () => {
  expect(detailText({ role: { from: 'MEMBER', to: 'MANAGER' }, email: 'ada@example.org', token: null })).toBe(
    'role: MEMBER → MANAGER, email: ada@example.org',
  )
  expect(detailText({ default_model: { from: null, to: 'acme/coder' } })).toBe(
    'default_model: none → acme/coder',
  )
  expect(detailText({ changed: ['rules', 'name'], enabled: false, count: 0 })).toBe(
    'changed: rules, name, enabled: false, count: 0',
  )
  expect(detailText({ price: { input: '0.6', output: 2 } })).toBe('price: input 0.6, output 2')
  expect(detailText({ head_sha: '0ea9dc32309768337c2988ba82f73f8e22821bfa' })).toBe('head_sha: 0ea9dc323097')
  expect(detailText({})).toBe('')
})
