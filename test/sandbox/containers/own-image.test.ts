import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, mkdirSync, symlinkSync } from 'node:fs'
import { dirname, join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDockerEngine } from '../../../src/sandbox/containers/docker.ts'
import { dockerApi } from '../../../src/sandbox/containers/docker-api.ts'
import { createContainerDriver } from '../../../src/sandbox/containers/driver.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { makeDriver, sandbox_user, startSandbox } from '../start-sandbox.ts'
import { engineProblem, startEngine, type TestEngine } from './start-engine.ts'

const programs = [
  'bash',
  'cat',
  'grep',
  'head',
  'id',
  'ls',
  'nice',
  'sh',
  'sleep',
  'stat',
  'touch',
  'unshare',
]

/**
 * A root of a dozen programs and their libraries, as `deploy/sandbox/Dockerfile` makes one of many. Without
 * `closed_bash` it lacks what process 1 is started from.
 */
function makeRoot(folder: string, closed_bash: boolean): Buffer {
  const at = (path: string) => join(folder, path)
  for (const path of [
    'usr/bin',
    'usr/lib',
    'usr/lib64',
    'etc',
    'home/agent',
    'opt/agentrun',
    'run/init',
    'run/exec',
    'tmp',
    'workspace',
    'proc',
    'sys',
    'dev',
  ])
    mkdirSync(at(path), { recursive: true })
  for (const name of ['bin', 'lib', 'lib64']) symlinkSync(`usr/${name}`, at(name))
  for (const name of programs) {
    const libraries = execFileSync('ldd', [`/usr/bin/${name}`], { encoding: 'utf8' }).matchAll(
      /(\/\S+) \(0x/g,
    )
    for (const path of [`/usr/bin/${name}`, ...[...libraries].flatMap(([, library]) => library ?? [])]) {
      const target = at(path.startsWith('/usr') ? path.slice(1) : `usr${path}`)
      mkdirSync(dirname(target), { recursive: true })
      copyFileSync(path, target)
    }
  }
  for (const path of ['home/agent', 'tmp']) chmodSync(at(path), 0o1777)
  if (closed_bash) {
    copyFileSync('/bin/bash', at('opt/agentrun/bash'))
    chmodSync(at('opt/agentrun/bash'), 0o111)
  }
  return execFileSync('tar', ['c', '--owner=0', '--group=0', '-C', folder, '.'], {
    maxBuffer: 256 * 1024 ** 2,
  })
}

describe.skipIf((await engineProblem('docker')) !== null)('an image of one’s own', () => {
  let engine: TestEngine
  const created = makeDriver()
  beforeAll(async () => {
    engine = await startEngine('docker')
    for (const [name, closed] of [
      ['good', true],
      ['open', false],
    ] as const) {
      using folder = temporaryFolder()
      const response = await dockerApi(engine.socket).call(
        'POST',
        `/images/create?fromSrc=-&repo=${name}&tag=1`,
        {
          body: makeRoot(folder.path, closed),
        },
      )
      expect(response.status).toBe(200)
    }
  })
  afterAll(async () => {
    await created[Symbol.asyncDispose]()
    await engine?.[Symbol.asyncDispose]()
  })

  const driverOf = (image: string, runtime: string | null = null) => {
    const runtime_dir = join(created.folder, `runtime-${image.replace(/\W/g, '-')}-${runtime}`)
    const files = { seccomp_file: join(runtime_dir, 'seccomp.json'), owner: 'test' }
    const docker = createDockerEngine({ name: 'docker', socket: engine.socket, image, runtime, ...files })
    return createContainerDriver({
      engine: docker,
      user: sandbox_user,
      node_path: process.execPath,
      runtime_dir,
      own_root: true,
    })
  }

  test('it contains only its programs, its bash protects the input of process 1, and the self-test passes', async () => {
    const driver = driverOf('good:1')
    expect(await driver.selfTest()).toEqual({ ok: true })
    await using box = await startSandbox(driver, created.makeWorkspace('own-root'))
    expect(
      (await box.shell('ls /usr/bin; id -un; echo kept >file; cat /proc/1/environ; ls /proc/1/fd')).text,
    ).toBe(
      `${programs.join('\n')}\nagent\ncat: /proc/1/environ: Permission denied\nls: cannot open directory '/proc/1/fd': Permission denied\n`,
    )
    expect((await box.shell('touch /usr/x 2>&1; ls /usr/share /opt')).text).toMatch(/Read-only file system/)
    expect((await box.shell('sleep 100', { timeout_ms: 300 })).status).toBe('timeout')
    expect((await box.separate('cat file')).text).toBe('kept\n')
  })

  test('an image without that bash, a missing one, and an unknown runtime are refused, and the reason names the fix', async () => {
    expect(await driverOf('open:1').selfTest()).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/^[^\n]*\/opt\/agentrun\/bash[^\n]*$/),
    })
    expect(await driverOf('absent:1').selfTest()).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/^[^\n]*absent:1[^\n]*AGENTRUN_SANDBOX_IMAGE[^\n]*$/),
    })
    expect(await driverOf('good:1', 'nonesuch').selfTest()).toMatchObject({
      ok: false,
      reason: expect.stringMatching(/^[^\n]*nonesuch[^\n]*$/),
    })
  })
})
