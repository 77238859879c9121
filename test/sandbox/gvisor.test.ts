import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createDockerEngine } from '../../src/sandbox/containers/docker.ts'
import { createContainerDriver } from '../../src/sandbox/containers/driver.ts'
import { startEngine, withoutEngine } from './start-engine.ts'
import { makeDriver, sandbox_user } from './start-sandbox.ts'

const runsc = '/usr/bin/runsc'
const made = makeDriver()
afterAll(() => made[Symbol.asyncDispose]())

test.runIf(process.env.TEST_ENGINES === '1' && existsSync(runsc) && withoutEngine('docker') === null)(
  'a runtime that cannot hold the walls of a sandbox is refused, and the reason says why: gVisor of 2022',
  async () => {
    await using engine = await startEngine('docker', { runsc: { path: runsc, runtimeArgs: ['--network=none'] } })
    const runtime_dir = join(made.folder, 'runtime-gvisor')
    const files = { seccomp_file: join(runtime_dir, 'seccomp.json'), owner: 'test' }
    const docker = createDockerEngine({ name: 'docker', socket: engine.socket, image: null, runtime: 'runsc', ...files })
    const own = { user: sandbox_user, node_path: process.execPath, runtime_dir, own_root: false }
    const driver = createContainerDriver({ engine: docker, ...own })
    expect(await driver.selfTest()).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/^docker [^\n]*no program that its user may not read[^\n]*$/),
    })
  },
  60_000,
)
