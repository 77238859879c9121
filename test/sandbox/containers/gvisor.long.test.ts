import { existsSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, expect, test } from 'vitest'
import { createDockerEngine } from '../../../src/sandbox/containers/docker.ts'
import { createContainerDriver } from '../../../src/sandbox/containers/driver.ts'
import { ensureSystemUsers } from '../../../src/system/users.ts'
import { guaranteesOf } from '../every-guarantee.ts'
import { engineProblem, startEngine } from './start-engine.ts'

/** The gVisor that is tried: Debian's, or the one that SANDBOX_TEST_RUNSC names. */
const runsc = process.env.SANDBOX_TEST_RUNSC ?? '/usr/bin/runsc'
/** What a sandbox needs of it: no network, our pipes and sockets, and our filter of system calls. */
const runtimeArgs = ['--network=none', '--host-fifo=open', '--host-uds=open', '--oci-seccomp']

const problem = existsSync(runsc) ? await engineProblem('docker') : `${runsc} is not installed`

if (problem === null) {
  const engine = await startEngine('docker', { runtimes: { runsc: { path: runsc, runtimeArgs } } })
  const runtime_dir = mkdtempSync(join(tmpdir(), 'gvisor-'))
  afterAll(async () => {
    await engine[Symbol.asyncDispose]()
    rmSync(runtime_dir, { recursive: true, force: true })
  })
  const files = { seccomp_file: join(runtime_dir, 'seccomp.json'), owner: 'test' }
  const docker = createDockerEngine({
    name: 'docker',
    socket: engine.socket,
    image: null,
    runtime: 'runsc',
    ...files,
  })
  const own = { user: ensureSystemUsers().sandbox, node_path: process.execPath, runtime_dir, own_root: false }
  const verdict = await createContainerDriver({ engine: docker, ...own }).selfTest()
  if (verdict.ok)
    guaranteesOf({ name: 'docker', socket: engine.socket, runtime: 'runsc' }, 'in a container of gVisor')
  else
    test('a gVisor that cannot isolate a sandbox is refused, with the reason', () => {
      expect(verdict.reason).toBe(
        'the runtime runsc starts no program that its user may not read, as gVisor does not, and process 1 of a sandbox is one: take AGENTRUN_SANDBOX_RUNTIME away',
      )
    })
} else test.skip(`in a container of gVisor: ${problem}`, () => {})
