import { execFile, spawn } from 'node:child_process'
import { once } from 'node:events'
import { existsSync, lstatSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { promisify } from 'node:util'
import { expect, test } from 'vitest'
import { createTestDatabase } from '../database.ts'
import { startServiceProcess } from '../runs/recovery/service-process.ts'
import { TOKEN } from '../start-app.ts'
import { testFolder } from '../temporary-folder.ts'
import { program_env } from './program-env.ts'

const main = fileURLToPath(new URL('../../src/main.ts', import.meta.url))

/** A database and a data folder, and the service on them with a pipe as its standard output. */
async function freshService(name: string, env: Record<string, string> = {}) {
  const database = await createTestDatabase()
  const data = join(testFolder(), name)
  const variables = {
    ...env,
    DATABASE_URL: database.url,
    AGENTRUN_DATA_DIR: data,
    AGENTRUN_WORKER_CONCURRENCY: '0',
  }
  const service = await startServiceProcess(variables)
  const stop = async () => {
    service.child.kill('SIGTERM')
    return (await service.ended).output
  }
  return { database, data, variables, service, stop }
}

const read = (data: string, name: string) => readFileSync(join(data, name), 'utf8')

async function signIn(base_url: string, link: string): Promise<number> {
  const body = JSON.stringify({ code: new URL(link.trim()).hash.slice('#code='.length) })
  return (
    await fetch(`${base_url}/session`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
  ).status
}

test('without a terminal token and link are in files of the service alone, and the output names them; a restart replaces the link only', async () => {
  const { database, data, variables, service, stop } = await freshService('piped data')
  await using _ = database
  for (const name of ['initial-token', 'sign-in-link']) {
    const { mode, uid } = lstatSync(join(data, name))
    expect([name, (mode & 0o7777).toString(8), uid]).toEqual([name, '600', process.getuid?.()])
  }
  const token = read(data, 'initial-token')
  const link = read(data, 'sign-in-link')
  expect(token).toMatch(/^arun_p_[0-9A-Za-z]{38}\n$/)
  expect(await signIn(service.base_url, link)).toBe(200)
  const first = await stop()
  for (const name of ['initial-token', 'sign-in-link']) expect(first).toContain(join(data, name))
  const again = await startServiceProcess(variables)
  expect(read(data, 'initial-token')).toBe(token)
  expect(read(data, 'sign-in-link')).not.toBe(link)
  expect(await signIn(again.base_url, read(data, 'sign-in-link'))).toBe(200)
  // The printed command works as it is pasted, in a folder whose name has a space.
  const command = /^ {2}curl [\s\S]*?\n\n/m.exec(again.output)?.[0] ?? ''
  const pasted = await promisify(execFile)('bash', ['-c', command], { env: { PATH: process.env.PATH } })
  expect(JSON.parse(pasted.stdout)).toMatchObject({ id: 1, status: 'queued' })
  again.child.kill('SIGTERM')
  const all = first + (await again.ended).output
  expect(all).not.toMatch(/arun_p_|#code=/)
}, 60_000)

test("the operator's own token is in no file and no output", async () => {
  const { database, data, stop } = await freshService('given', { AGENTRUN_INIT_TOKEN: TOKEN })
  await using _ = database
  const output = await stop()
  expect(existsSync(join(data, 'initial-token'))).toBe(false)
  expect(read(data, 'sign-in-link') + output).not.toContain(TOKEN)
  expect(output).toContain('Bearer $AGENTRUN_TOKEN')
}, 60_000)

test('a terminal shows token and link, and no file has them', async () => {
  await using database = await createTestDatabase()
  const data = join(testFolder(), 'terminal')
  const env = {
    ...program_env,
    DATABASE_URL: database.url,
    AGENTRUN_DATA_DIR: data,
    AGENTRUN_WORKER_CONCURRENCY: '0',
    AGENTRUN_PORT: '0',
  }
  const terminal = spawn(
    'script',
    ['-qec', `exec '${process.execPath}' '${main}' 2>/dev/null`, '/dev/null'],
    {
      env,
      stdio: ['pipe', 'pipe', 'ignore'],
    },
  )
  const closed = once(terminal, 'close')
  let output = ''
  terminal.stdout.setEncoding('utf8').on('data', piece => {
    // Ctrl-C, typed once.
    if (!output.includes('Start a run') && (output + piece).includes('Start a run'))
      terminal.stdin.write('\x03')
    output += piece
  })
  expect(await closed).toEqual([0, null])
  expect(output).toMatch(/arun_p_[0-9A-Za-z]{38}/)
  expect(output).toMatch(/\/sign-in#code=[\w-]{32}/)
  for (const name of ['initial-token', 'sign-in-link']) expect(existsSync(join(data, name))).toBe(false)
}, 60_000)
