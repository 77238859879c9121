import { expect, test } from 'vitest'
import { SandboxError } from '../../src/sandbox/port.ts'
import { plantCanary } from '../../src/worker/sandbox/run-secrets.ts'
import { makeDriver, startSandbox } from '../sandbox/start-sandbox.ts'

const FILE = '/home/agent/.config/agentrun/credentials'

test('a sandbox in which its canary cannot be created is an error, not a sandbox without one', async () => {
  await using created = makeDriver()
  await using box = await startSandbox(created.driver, created.makeWorkspace('canary'))
  await plantCanary(box.sandbox, { canary: 'first' })
  expect(await box.separate(`cat ${FILE}; stat -c %a ${FILE}`)).toMatchObject({
    text: '[default]\ntoken = first\n600\n',
  })
  await plantCanary(box.sandbox, { canary: 'second' })
  expect((await box.separate(`cat ${FILE}`)).text).toBe('[default]\ntoken = second\n')

  await using full = await startSandbox(created.driver, created.makeWorkspace('full'), {
    limits: { max_tmp_bytes: 65_536 },
  })
  await full.separate('head -c 1000000 /dev/zero >~/all-of-it')
  const failing = plantCanary(full.sandbox, { canary: 'third' })
  await expect(failing).rejects.toThrow(SandboxError)
  await expect(failing).rejects.toThrow(
    /the canary cannot be created in the home folder: .*No space left on device/,
  )
})
