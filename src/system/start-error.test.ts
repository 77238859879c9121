import { describe, expect, it } from 'vitest'
import { startErrorText } from './start-error.ts'

describe('startErrorText', () => {
  it('states what to do about a full disk, whether a file system, a quota or the database reports it', () => {
    for (const message of [
      'ENOSPC: no space left on device, write',
      "EDQUOT: unknown error, mkdir '/data/postgres'",
      'could not extend file "base/16384/2608": No space left on device',
    ])
      expect(startErrorText(new Error(message))).toBe(
        `the disk is full (${message}): free space on the disk of the data folder, and on that of the database if DATABASE_URL names another one`,
      )
  })

  it('leaves every other message as it is', () => {
    expect(startErrorText(new Error('AGENTRUN_PORT: Invalid'))).toBe('AGENTRUN_PORT: Invalid')
    expect(startErrorText('a text')).toBe('a text')
    expect(startErrorText(null)).toBe('null')
  })
})
