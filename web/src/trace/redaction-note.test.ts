import { expect, test } from 'vitest'
import { redactionNote } from './redaction-note.ts'

test('an entry shows how many values were redacted, and their names', () => {
  expect(redactionNote({ NPM_TOKEN: 1 })).toBe('1 value redacted: NPM_TOKEN')
  expect(redactionNote({ NPM_TOKEN: 2, github_token: 1 })).toBe('3 values redacted: NPM_TOKEN, github_token')
  expect(redactionNote({})).toBeNull()
  expect(redactionNote(undefined)).toBeNull()
})
