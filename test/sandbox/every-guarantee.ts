import { afterAll, describe, test, vi } from 'vitest'
import { type EngineName, engineProblem, startEngine } from './containers/start-engine.ts'
import type { EngineOfTests } from './start-sandbox.ts'

const suites = [
  'commands',
  'processes',
  'files',
  'freezes.long',
  'hostile',
  'isolation',
  'lifecycle',
  'limits',
  'sockets',
  'workspaces',
  'resources',
]

/**
 * Every guarantee of a sandbox, for containers of an engine that this file of tests has for itself. On a
 * machine without one they are skipped.
 */
export async function everyGuarantee(name: EngineName, title: string): Promise<void> {
  const reason = await engineProblem(name)
  if (reason !== null) return test.skip(`${title}: ${reason}`, () => {})
  const engine = await startEngine(name)
  afterAll(() => engine[Symbol.asyncDispose]())
  guaranteesOf({ name, socket: engine.socket }, title)
}

/**
 * The same for an engine that runs already. Files share their process, so the suites are loaded afresh for
 * this engine and forgotten afterwards.
 */
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
