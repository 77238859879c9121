import { spawnSync } from 'node:child_process'
import { expect, test } from 'vitest'
import { childEnv } from '../../src/system/host-child-env.ts'
import { ensureSystemUsers } from '../../src/system/users.ts'

test('as root, git, database and sandbox run as different users that are not root; otherwise as ourselves', () => {
  const { service, database, sandbox } = ensureSystemUsers()
  if (process.getuid?.() !== 0)
    return expect({ service, database, sandbox }).toEqual({ service: null, database: null, sandbox: null })
  const ids = [0, service?.uid, database?.uid, sandbox?.uid]
  expect(new Set(ids).size).toBe(4)
  expect(database?.gid).not.toBe(service?.gid)
  expect(sandbox?.gid).toBe(service?.gid)
  expect(ensureSystemUsers()).toEqual({ service, database, sandbox })
})

test('a child process gets no variable of ours but those that are named', () => {
  process.env.AGENTRUN_TEST_SECRET = 'must not leak'
  const { stdout } = spawnSync('env', { env: childEnv({ NAMED: 'yes' }), encoding: 'utf8' })
  delete process.env.AGENTRUN_TEST_SECRET
  const names = stdout
    .trim()
    .split('\n')
    .map(line => line.split('=')[0])
  expect(names.sort()).toEqual(['LANG', 'NAMED', 'PATH'])
})
