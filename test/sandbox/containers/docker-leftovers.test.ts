import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { createDockerEngine } from '../../../src/sandbox/containers/docker.ts'
import { dockerApi } from '../../../src/sandbox/containers/docker-api.ts'
import { createContainerDriver } from '../../../src/sandbox/containers/driver.ts'
import { makeDriver, sandbox_user, startSandbox } from '../start-sandbox.ts'
import { engineProblem, startEngine, type TestEngine } from './start-engine.ts'

describe.skipIf((await engineProblem('docker')) !== null)('what others left in Docker', () => {
  let engine: TestEngine
  const made = makeDriver()
  beforeAll(async () => {
    engine = await startEngine('docker')
  })
  afterAll(async () => {
    await made[Symbol.asyncDispose]()
    await engine?.[Symbol.asyncDispose]()
  })
  const driverOf = (owner: string) => {
    const runtime_dir = join(made.folder, 'runtime-left')
    const files = { seccomp_file: join(runtime_dir, 'seccomp.json'), owner }
    const docker = createDockerEngine({
      name: 'docker',
      socket: engine.socket,
      image: null,
      runtime: null,
      ...files,
    })
    return createContainerDriver({
      engine: docker,
      user: sandbox_user,
      node_path: process.execPath,
      runtime_dir,
      own_root: false,
    })
  }
  const request = async (method: string, path: string, body?: unknown) =>
    (await dockerApi(engine.socket).call(method, path, { body })).body
  const names = async () =>
    ((await request('GET', '/containers/json?all=1')) as { Id: string }[]).map(({ Id }) => Id)

  test('a sandbox is ended by its name, from any process; another name, or one of another boot of the machine, ends nothing', async () => {
    const box = await startSandbox(driverOf('one'), made.makeWorkspace('ended-by-name'))
    const identity = box.sandbox.identity ?? ''
    const [name, boot, id] = identity.split(' ')
    const other = driverOf('two')
    await other.end(
      `podman ${boot} ${id}\n${name} 00000000-0000-0000-0000-000000000000 ${id}\n${boot} pid:[1] 1 1`,
    )
    expect((await box.shell('echo alive')).text).toBe('alive\n')
    await other.end(identity)
    expect(await names()).toEqual([])
    await box.sandbox.ended
    await other.end(identity)
  })

  test('a deleted image of ours is rebuilt', async () => {
    const driver = driverOf('one')
    await driver.selfTest()
    for (const { Id } of (await request('GET', '/images/json')) as { Id: string }[])
      await request('DELETE', `/images/${Id}?force=1`)
    expect(await request('GET', '/images/json')).toEqual([])
    await using box = await startSandbox(driver, made.makeWorkspace('cleaned-up'))
    expect((await box.shell('echo there')).text).toBe('there\n')
  })

  test('containers that a killed process has created and not started are removed by the next one of its service, and none of another service or of a living process', async () => {
    const driver = driverOf('one')
    await driver.selfTest()
    const dead = spawn('/bin/true')
    await once(dead, 'exit')
    const [image] = (await request('GET', '/images/json')) as { Id: string }[]
    const make = async (owner: string, pid: number | undefined) => {
      const labels = { 'agentrun.owner': owner, 'agentrun.pid': String(pid) }
      return (
        (await request('POST', '/containers/create', { Image: image?.Id, Cmd: ['/x'], Labels: labels })) as {
          Id: string
        }
      ).Id
    }
    const left = await make('one', dead.pid)
    const kept = [await make('two', dead.pid), await make('one', process.pid)]
    await driverOf('one').selfTest()
    const now = await names()
    expect(now).not.toContain(left)
    expect(now.toSorted()).toEqual(kept.toSorted())
  })
})
