import { execFileSync } from 'node:child_process'
import { chmodSync, copyFileSync, cpSync, mkdirSync, mkdtempSync, rmSync, symlinkSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { dockerApi } from '../../../src/sandbox/containers/docker-api.ts'

/** A call of the engine's API. Throws what it refuses with. */
export type Engine = (method: string, path: string, body?: object | Buffer) => Promise<unknown>

export function engineAt(socket: string): Engine {
  const api = dockerApi(socket)
  return async (method, path, body) => {
    const response = await api.call(method, path, body === undefined ? {} : { body })
    if (response.status >= 400)
      throw new Error(`the engine answered ${response.status}: ${JSON.stringify(response.body)}`)
    return response.body
  }
}

/**
 * An image as deploy/sandbox describes it, without its programs: a node of these tests mounts those of this
 * machine where the image would have them, so that no registry is needed. `agents`: the folders whose files
 * it has as the programs of these agents.
 */
export async function importHollowImage(
  engine: Engine,
  name: string,
  agents: Record<string, string> = {},
): Promise<void> {
  const folder = mkdtempSync(join(tmpdir(), 'image-test-'))
  try {
    for (const path of [
      'usr',
      'etc',
      'home',
      'opt/node/bin',
      'opt/agentrun',
      'run',
      'tmp',
      'proc',
      'dev',
      'sys',
      'workspace',
    ])
      mkdirSync(join(folder, path), { recursive: true })
    for (const path of ['bin', 'sbin', 'lib', 'lib64']) symlinkSync(`usr/${path}`, join(folder, path))
    // A user who cannot read the program of a process cannot inspect the process either.
    copyFileSync('/bin/bash', join(folder, 'opt/agentrun/bash'))
    chmodSync(join(folder, 'opt/agentrun/bash'), 0o111)
    for (const [id, programs] of Object.entries(agents))
      cpSync(programs, join(folder, 'opt/agents', id), { recursive: true, verbatimSymlinks: true })
    chmodSync(folder, 0o755)
    // A folder in memory gets the mode of what it covers, and those of Kubernetes have this one.
    chmodSync(join(folder, 'tmp'), 0o777)
    const tar = execFileSync('tar', ['c', '-C', folder, '--owner=0', '--group=0', '.'], {
      maxBuffer: 1024 ** 3,
    })
    const [repository, tag] = name.split(':')
    await engine('POST', `/images/create?fromSrc=-&repo=${repository}&tag=${tag}`, tar)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
}
