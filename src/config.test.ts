import { mkdtempSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { readConfig } from './config.ts'

test('an empty environment is a working configuration', () => {
  const config = readConfig({ PATH: '/usr/bin', AGENTRUN_BASE_URL: '' })
  expect(config).toMatchObject({ AGENTRUN_HOST: '127.0.0.1', AGENTRUN_PORT: 4600, AGENTRUN_WORKER_CONCURRENCY: 4 })
  expect(config.AGENTRUN_LIMIT_STANDARD).toEqual({ requests: 60, seconds: 30 })
})

test('every mistake is listed at once, and no value is repeated', () => {
  const read = () =>
    readConfig({
      AGENTRUN_PORT: '70000',
      AGENTRUN_INIT_TOKEN: 'too-short-secret',
      AGENTRUN_LIMIT_STANDARD: '60',
      DATABASE_URL: 'mysql://x',
      AGENTRUN_PROT: '1',
    })
  expect(read).toThrow(/5 mistakes/)
  for (const name of ['AGENTRUN_PORT', 'AGENTRUN_INIT_TOKEN', 'AGENTRUN_LIMIT_STANDARD', 'DATABASE_URL', 'AGENTRUN_PROT: unknown'])
    expect(read).toThrow(name)
  expect(read).not.toThrow(/too-short-secret/)
})

test('a value may come from a file, without its last line break', () => {
  const file = join(mkdtempSync(join(tmpdir(), 'config-')), 'token')
  writeFileSync(file, 'a-token-of-24-characters-or-more\n')
  expect(readConfig({ AGENTRUN_INIT_TOKEN_FILE: file }).AGENTRUN_INIT_TOKEN).toBe('a-token-of-24-characters-or-more')
  expect(() => readConfig({ AGENTRUN_INIT_TOKEN_FILE: '/nowhere' })).toThrow('AGENTRUN_INIT_TOKEN_FILE')
  expect(() => readConfig({ AGENTRUN_INIT_TOKEN_FILE: file, AGENTRUN_INIT_TOKEN: 'b-token-of-24-characters-or-more' })).toThrow('both')
})

test('a limit is a number of requests in seconds, or off', () => {
  expect(readConfig({ AGENTRUN_LIMIT_AGENT_CREATION: '1000/60' }).AGENTRUN_LIMIT_AGENT_CREATION).toEqual({ requests: 1000, seconds: 60 })
  expect(readConfig({ AGENTRUN_LIMIT_AGENT_CREATION: 'off' }).AGENTRUN_LIMIT_AGENT_CREATION).toBeNull()
})

test('the variables of a client in the same shell do not keep the service from starting', () => {
  expect(() => readConfig({ AGENTRUN_TOKEN: 'arun_p_whatever', AGENTRUN_URL: 'http://elsewhere', AGENTRUN_ORG: '1' })).not.toThrow()
})

test('the key for secrets is 32 bytes, as hexadecimal digits or base64, and what is none is not repeated', () => {
  const key = Buffer.alloc(32, 7)
  for (const text of [key.toString('hex'), key.toString('base64')])
    expect(readConfig({ AGENTRUN_SECRET_KEY: text }).AGENTRUN_SECRET_KEY?.equals(key)).toBe(true)
  const read = () => readConfig({ AGENTRUN_SECRET_KEY: 'a-passphrase-of-more-than-32-characters' })
  expect(read).toThrow('AGENTRUN_SECRET_KEY: must be 32 bytes')
  expect(read).not.toThrow(/passphrase/)
})
