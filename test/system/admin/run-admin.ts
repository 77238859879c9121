import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect } from 'vitest'
import { processExecutable, processIds } from '../../../src/system/processes.ts'
import { type ServiceProcess, startServiceProcess } from '../../runs/recovery/service-process.ts'
import type { ApiResponse } from '../../start-app.ts'
import { program_env } from '../program-env.ts'

const program = fileURLToPath(new URL('../../../src/admin.ts', import.meta.url))
export const base_url = 'https://agents.example'

/** The command as the launcher starts it. `out` is what a script would take. */
export async function admin(
  args: string[],
  env: Record<string, string>,
): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, [program, ...args], {
    env: { ...program_env, AGENTRUN_BASE_URL: base_url, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, out: out.trimEnd(), err }
}
export async function printed(args: string[], env: Record<string, string>): Promise<string> {
  const { code, out, err } = await admin(args, env)
  expect({ code, err }).toMatchObject({ code: 0 })
  return out
}

export const get = async (
  at: string,
  token: string,
  path: string,
): Promise<Pick<ApiResponse, 'status' | 'body'>> => {
  const response = await fetch(at + path, { headers: { authorization: `Bearer ${token}` } })
  return { status: response.status, body: await response.json() }
}

/** A service with the embedded database in a data folder. */
export function embeddedService(data: string) {
  const env = { AGENTRUN_DATA_DIR: data }
  const databases = () =>
    processIds().filter(pid => processExecutable(pid)?.cwd === join(data, 'postgres/cluster'))
  return {
    env,
    databases,
    start: () => startServiceProcess({ ...env, AGENTRUN_WORKER_CONCURRENCY: '0' }),
    async stop({ child, ended }: ServiceProcess) {
      child.kill('SIGTERM')
      expect((await ended).code).toBe(0)
      expect(databases()).toEqual([])
    },
  }
}
