import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { waitUntil } from '../../../src/system/processes.ts'
import { OPENCODE } from '../../agents/real-agents.ts'
import { engineProblem, startEngine, type TestEngine } from '../../sandbox/containers/start-engine.ts'
import { responses, startCodingApp } from '../coding-app.ts'
import { playProgram, playRealAgent } from './agents-on-a-driver.ts'
import { killAndGoOn, playRun } from './on-a-driver.ts'
import { sandboxProcesses } from './sandbox-processes.ts'

/** The service with its sandboxes in containers, from a run's creation to its branch. */
const reason = await engineProblem('docker')

describe.skipIf(reason !== null)('runs in containers of Docker', () => {
  let engine: TestEngine
  const env = () => ({ AGENTRUN_SANDBOX: 'docker', AGENTRUN_SANDBOX_ENGINE: engine.socket })
  beforeAll(async () => {
    engine = await startEngine('docker')
  })
  afterAll(() => engine?.[Symbol.asyncDispose]())

  test('a run changes files, keeps its shell, reaches its proxy and ends with a branch', async () => {
    await playRun('docker', env(), data_dir => sandboxProcesses(data_dir).length === 0)
  }, 60_000)

  test('an agent of another vendor works in a container up to a pull request, and the key of its model is not in it', async () => {
    await playProgram(env())
    await playRealAgent(OPENCODE, env())
  }, 120_000)

  test('kill -9 of the service ends its containers, and the next one continues', async () => {
    await killAndGoOn(env(), {
      atWork: data_dir => sandboxProcesses(data_dir).length > 2,
      async killed(data_dir) {
        expect(await waitUntil(() => sandboxProcesses(data_dir).length === 0, 5_000)).toBe(true)
      },
    })
  }, 180_000)

  test('without its engine no run starts, and the reason names the fix', async () => {
    await using app = await startCodingApp(responses(), {
      AGENTRUN_SANDBOX: 'docker',
      AGENTRUN_SANDBOX_ENGINE: '/no/such/engine.sock',
    })
    const workers = async () =>
      (await (await fetch(`${app.base_url}/readyz`)).json()) as { workers: string; workers_reason: string }
    expect(await waitUntil(async () => (await workers()).workers_reason?.includes('engine'), 10_000)).toBe(
      true,
    )
    expect(await workers()).toMatchObject({
      workers: 'blocked',
      workers_reason: expect.stringMatching(
        /no container engine responds at \/no\/such\/engine\.sock \(ENOENT\): start it, or name its socket by/,
      ),
    })
  })
})
