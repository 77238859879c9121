import { afterAll, expect, it } from 'vitest'
import { makeDriver, startSandbox } from './start-sandbox.ts'

const created = makeDriver()
afterAll(() => created[Symbol.asyncDispose]())

it('an owner that is idle for longer than a freeze that ends sandboxes keeps its sandbox', async () => {
  await using box = await startSandbox(created.driver, created.makeWorkspace('idle'))
  await box.shell('cd /tmp; kept=yes')
  expect((await box.shell('sleep 13; echo "$kept $PWD"', { timeout_ms: 30_000 })).text).toBe('yes /tmp\n')
}, 40_000)

it('an owner whose event loop is occupied for longer than a freeze that ends sandboxes keeps its sandbox', async () => {
  await using box = await startSandbox(created.driver, created.makeWorkspace('occupied'))
  await box.shell('kept=yes')
  // By work: a process that uses no processor is frozen.
  for (const end = performance.now() + 13_000; performance.now() < end; );
  expect((await box.shell('echo "$kept"')).text).toBe('yes\n')
}, 40_000)
