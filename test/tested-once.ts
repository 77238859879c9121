import { statSync } from 'node:fs'
import type { Parts } from '../src/compose/parts.ts'
import { createSandboxDriver } from '../src/compose/sandbox-driver.ts'
import type { LayerDriver, SandboxDriver } from '../src/sandbox/port.ts'

type TestResult = Awaited<ReturnType<SandboxDriver['selfTest']>>

const passed = new Map<string, TestResult>()

/**
 * Creates the configured driver. A self-test that has passed in this process is not repeated for the same
 * settings: it starts five sandboxes, and each test file starts a service. `first-start.test.ts` and all
 * tests of a separate process run it.
 */
export function testedOnce(parts: Parts): SandboxDriver {
  const driver = createSandboxDriver(parts)
  const { config, path, users } = parts
  const key = JSON.stringify([
    path,
    users,
    Object.entries(config).filter(([name]) => name.startsWith('AGENTRUN_SANDBOX')),
  ])
  const layers: LayerDriver | undefined = driver.layers && {
    open: driver.layers.open,
    selfTest: folder =>
      once(`${key} ${statSync(folder).dev}`, () => (driver.layers as LayerDriver).selfTest(folder)),
  }
  return { ...driver, ...(layers && { layers }), selfTest: () => once(key, () => driver.selfTest()) }
}

async function once(key: string, test: () => Promise<TestResult>): Promise<TestResult> {
  const known = passed.get(key)
  if (known) return known
  const result = await test()
  if (result.ok) passed.set(key, result)
  return result
}
