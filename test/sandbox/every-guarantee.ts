import { afterAll, describe, expect, test, vi } from 'vitest'
import { type EngineName, startEngine, withoutEngine } from './containers/start-engine.ts'
import type { EngineOfTests } from './start-sandbox.ts'

const suites = ['commands', 'processes', 'files', 'hostile', 'isolation', 'lifecycle', 'limits', 'sockets', 'workspaces', 'resources']

/** Every guarantee of a sandbox, for containers of an engine that this file of tests has for itself. Where there can be none they are skipped, but never on a machine that tests what is merged. */
export async function everyGuarantee(name: EngineName, title: string): Promise<void> {
  const reason = withoutEngine(name)
  if (reason !== null) {
    // Only root can start an engine; CI has one installed.
    test.runIf(process.env.CI === 'true' && reason.includes('installed'))(`${title}: there is an engine`, () => expect(reason).toBeNull())
    return
  }
  const engine = await startEngine(name)
  afterAll(() => engine[Symbol.asyncDispose]())
  guaranteesOf({ name, socket: engine.socket }, title)
}

/** The same for an engine that runs already. Files share their process, so the suites are loaded afresh for this engine and forgotten afterwards. */
export function guaranteesOf(engine: EngineOfTests, title: string): void {
  process.env.SANDBOX_TEST_ENGINE = JSON.stringify(engine)
  vi.resetModules()
  afterAll(() => {
    delete process.env.SANDBOX_TEST_ENGINE
    vi.resetModules()
  })
  for (const suite of suites)
    describe(`${title}: ${suite}`, async () => {
      await import(`./${suite}.test.ts`)
    })
}
