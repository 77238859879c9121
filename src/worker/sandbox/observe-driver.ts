import type { SandboxDriver } from '../../sandbox/port.ts'
import type { Telemetry } from '../../telemetry/port.ts'

/** Returns the driver with metrics of its starts. */
export const observeDriver = (telemetry: Telemetry, driver: SandboxDriver): SandboxDriver => ({
  ...driver,
  async start(spec) {
    const began = performance.now()
    let ok = false
    try {
      const sandbox = await driver.start(spec)
      ok = true
      return sandbox
    } finally {
      telemetry.sandboxStarted({ ms: performance.now() - began, ok })
    }
  },
})
