import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { chmodSync, existsSync, mkdirSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { startServiceProcess } from '../runs/recovery/service-process.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { program_env } from './program-env.ts'

const admin_program = fileURLToPath(new URL('../../src/admin.ts', import.meta.url))
const token = 'a-token-of-the-configuration-0123456789'

async function adminConfig(env: Record<string, string>): Promise<{ code: number; out: string; err: string }> {
  const child = spawn(process.execPath, [admin_program, 'config'], {
    env: { ...program_env, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, out, err }
}

test('a new data folder with .env and agentrun.toml starts a service that is configured by them, and the command shows their values', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  mkdirSync(data)
  writeFileSync(join(data, '.env'), `AGENTRUN_INIT_TOKEN=${token}\n`, { mode: 0o600 })
  writeFileSync(
    join(data, 'agentrun.toml'),
    'AGENTRUN_INIT_ORG = "Of the file"\nAGENTRUN_WORKER_CONCURRENCY = 0\n',
  )
  const env = { AGENTRUN_DATA_DIR: data }
  const before = await adminConfig(env)
  expect(before).toMatchObject({ code: 0, err: '' })
  expect(before.out).toContain(`AGENTRUN_INIT_TOKEN=[hidden] (${data}/.env, line 1)\n`)
  expect(before.out).toContain(`AGENTRUN_INIT_ORG=Of the file (${data}/agentrun.toml, line 1)\n`)
  expect(existsSync(join(data, 'postgres'))).toBe(false)

  const { base_url, child, ended } = await startServiceProcess(env)
  const response = await fetch(`${base_url}/v1/organizations`, {
    headers: { authorization: `Bearer ${token}` },
  })
  expect(await response.json()).toMatchObject({ items: [{ name: 'Of the file' }] })
  child.kill('SIGTERM')
  expect((await ended).code).toBe(0)
})

test('a mistake in a file stops the start with its line, before anything is created', async () => {
  using folder = temporaryFolder()
  const data = join(folder.path, 'data')
  mkdirSync(data)
  writeFileSync(join(data, '.env'), '\nAGENTRUN_PORT=many\n', { mode: 0o600 })
  const line = `${data}/.env, line 2: AGENTRUN_PORT: must be a whole number from 0 to 65535`
  const started = await startServiceProcess({ AGENTRUN_DATA_DIR: data, AGENTRUN_PORT: '' })
  expect(await started.ended).toMatchObject({ code: 1, output: expect.stringContaining(line) })
  expect(await adminConfig({ AGENTRUN_DATA_DIR: data })).toMatchObject({
    code: 1,
    out: '',
    err: expect.stringContaining(line),
  })
  writeFileSync(join(data, '.env'), 'OPENAI_API_KEY=secret\n')
  chmodSync(join(data, '.env'), 0o644)
  expect(await (await startServiceProcess({ AGENTRUN_DATA_DIR: data })).ended).toMatchObject({
    code: 1,
    output: expect.stringContaining(`chmod 600 ${data}/.env`),
  })
  expect(existsSync(join(data, 'postgres'))).toBe(false)
})
