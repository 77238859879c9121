import { expect, test } from 'vitest'
import { httpLink } from './links.ts'

test('absolute http(s) addresses are links', () => {
  expect(httpLink('https://example.com/a b')).toBeNull()
  expect(httpLink('https://example.com/a?b#c')).toBe('https://example.com/a?b#c')
  expect(httpLink('http://localhost:4600/')).toBe('http://localhost:4600/')
})

test.each([
  'javascript:alert(1)',
  'JaVaScRiPt:alert(1)',
  'java\nscript:alert(1)',
  ' javascript:alert(1)',
  'data:text/html,<script>1</script>',
  'vbscript:x',
  'file:///etc/passwd',
  '//evil.example/',
  '/relative',
  'https://user:pass@example.com/',
  '',
])('%j is not a link', address => {
  expect(httpLink(address)).toBeNull()
})
