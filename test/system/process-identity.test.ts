import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { expect, test } from 'vitest'
import { endProcess, processIdentity } from '../../src/system/process-identity.ts'

test('a process is ended by its name, also one that is stopped; a name of one that was there before ends nothing', async () => {
  const child = spawn('sleep', ['1000'])
  await once(child, 'spawn')
  const identity = processIdentity(child.pid ?? 0)
  child.kill('SIGSTOP')
  const earlier = String(identity).replace(/\d+$/, started => String(Number(started) - 1))
  await endProcess(earlier)
  expect(processIdentity(child.pid ?? 0)).toBe(identity)
  const ended = once(child, 'exit')
  await endProcess(String(identity))
  expect((await ended)[1]).toBe('SIGKILL')
  await endProcess(String(identity))
})

test('a process that is gone has no name', () => {
  expect(processIdentity(2 ** 22 + 1)).toBeNull()
})
