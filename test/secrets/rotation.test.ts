import { spawn } from 'node:child_process'
import { randomBytes } from 'node:crypto'
import { once } from 'node:events'
import { text } from 'node:stream/consumers'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { secretContext } from '../../src/core/secrets/run-secrets.ts'
import { createSealer } from '../../src/core/secrets/sealing.ts'
import { runTargetContext, webhookContext } from '../../src/core/webhooks/webhook-secrets.ts'
import { rotateSecrets } from '../../src/service/secrets/rotate-secrets.ts'
import type { Db } from '../../src/store/database.ts'
import { createRun } from '../runs/await-run.ts'
import { type App, rows, startApp } from '../start-app.ts'
import { program_env } from '../system/program-env.ts'

const key = () => randomBytes(32)
const [first, second, third] = [key(), key(), key()]
const HOOK = 'https://hooks.example.org/a'
let app: App
beforeAll(async () => {
  app = await startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_SECRET_KEY: first.toString('hex') })
  const at = `/v1/organizations/${app.org_id}`
  for (let n = 0; n < 60; n++) {
    await app.call('PUT', `${at}/secrets/OURS_${n}`, { value: `ours-${n}` })
    await app.call('PUT', `${at}/repos/${app.repo_id}/secrets/OWN_${n}`, { value: `own-${n}` })
  }
  for (const secret of ['of before', 'of the organization'])
    await app.call('POST', `${at}/webhooks/agent-run`, { url: HOOK, enabled: true, secret })
  await createRun(app, { prompt: 'x', webhooks: [{ url: HOOK, secret: 'of the run' }, { url: `${HOOK}/b` }] })
})
afterAll(() => app[Symbol.asyncDispose]())

type SealedRow = { key_id: string; sealed: Buffer }
/** Every value that is stored, opened with `sealer` alone. */
async function opened(sealer: ReturnType<typeof createSealer>): Promise<Record<string, string>> {
  const secrets = await rows<SealedRow & { name: string; repository_id: number | null }>(
    app,
    'select * from secrets',
  )
  const [hook] = await rows<SealedRow>(app, 'select key_id, sealed_secret as sealed from webhooks')
  const [before] = await rows<SealedRow>(
    app,
    'select previous_key_id as key_id, previous_sealed_secret as sealed from webhooks',
  )
  const [run] = await rows<{ webhooks: string }>(app, 'select webhooks from runs')
  const [target, without] = JSON.parse(run?.webhooks ?? '[]')
  expect(without).toEqual({ url: `${HOOK}/b` })
  if (!hook || !before) throw new Error('no webhook')
  return {
    ...Object.fromEntries(
      secrets.map(row => [
        row.name,
        sealer.open(secretContext(app.org_id, row.repository_id, row.name), row),
      ]),
    ),
    webhook: sealer.open(webhookContext(app.org_id), hook),
    webhook_before: sealer.open(webhookContext(app.org_id), before),
    run: sealer.open(runTargetContext(app.org_id, HOOK), {
      key_id: target.key_id,
      sealed: Buffer.from(target.sealed, 'base64'),
    }),
  }
}
const all = () => ({
  ...Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`OURS_${n}`, `ours-${n}`])),
  ...Object.fromEntries(Array.from({ length: 60 }, (_, n) => [`OWN_${n}`, `own-${n}`])),
  webhook: 'of the organization',
  webhook_before: 'of before',
  run: 'of the run',
})

async function admin(env: Record<string, string>) {
  const program = fileURLToPath(new URL('../../src/admin.ts', import.meta.url))
  const child = spawn(process.execPath, [program, 'rotate-secrets'], {
    env: { ...program_env, DATABASE_URL: app.database_url, ...env },
    stdio: ['ignore', 'pipe', 'pipe'],
  })
  const [out, err, [code]] = await Promise.all([text(child.stdout), text(child.stderr), once(child, 'close')])
  return { code, output: out + err }
}

test('the command re-encrypts every value with the current key, and a second run has nothing to do', async () => {
  const env = {
    AGENTRUN_SECRET_KEY: second.toString('base64'),
    AGENTRUN_SECRET_KEY_PREVIOUS: `${third.toString('hex')},${first.toString('hex')}`,
  }
  expect(await admin(env)).toMatchObject({
    code: 0,
    output: expect.stringContaining('123 values are encrypted with the current key.'),
  })
  expect(await opened(createSealer(second))).toEqual(all())
  await expect(opened(createSealer(first))).rejects.toThrow('sealed with the key')
  expect(await admin(env)).toMatchObject({
    code: 0,
    output: expect.stringContaining('0 values are encrypted with the current key.'),
  })
})

test('without the key that decrypts them values stay unchanged, and the command reports how many', async () => {
  const response = await admin({ AGENTRUN_SECRET_KEY: third.toString('hex') })
  expect(response).toMatchObject({
    code: 1,
    output: expect.stringContaining('123 values are sealed with a key that is neither'),
  })
  expect(await opened(createSealer(second))).toEqual(all())
  expect(await admin({})).toMatchObject({
    code: 1,
    output: expect.stringContaining('AGENTRUN_SECRET_KEY is not set'),
  })
})

test('interrupted in the middle it continues where it was, and values set meanwhile are not lost', async () => {
  let left = 70
  const breaking: Db = {
    query: async (...parameters: Parameters<Db['query']>) => {
      if (left-- === 0) throw new Error('killed')
      return app.db.query(...parameters)
    },
  } as Db
  const sealer = createSealer(third, [second])
  await expect(rotateSecrets(breaking, sealer)).rejects.toThrow('killed')
  const both = createSealer(third, [second])
  expect(await opened(both)).toEqual(all())

  // A user sets a value between its read and its write.
  const location = secretContext(app.org_id, app.repo_id, 'OWN_59')
  const meanwhile: Db = {
    query: async (...parameters: Parameters<Db['query']>) => {
      const { name, values } = parameters[0] as { name: string; values: unknown[] }
      const [row] = await rows<{ id: number }>(app, `select id from secrets where name = 'OWN_59'`)
      if (name === 'reseal_secret' && values[1] === row?.id)
        await rows(app, `update secrets set sealed = $1 where name = 'OWN_59'`, [
          createSealer(second).seal(location, 'newer').sealed,
        ])
      return app.db.query(...parameters)
    },
  } as Db
  const done = await rotateSecrets(meanwhile, sealer)
  expect(done).toMatchObject({ changed: 1, unreadable: 0 })
  expect(await rotateSecrets(app.db, sealer)).toEqual({ resealed: 1, changed: 0, unreadable: 0 })
  expect(await opened(createSealer(third))).toEqual({ ...all(), OWN_59: 'newer' })
})

test('a service with the new key decrypts values of the previous key', async () => {
  const env = { AGENTRUN_WORKER_CONCURRENCY: '0', DATABASE_URL: app.database_url }
  const keys = {
    AGENTRUN_SECRET_KEY: first.toString('hex'),
    AGENTRUN_SECRET_KEY_PREVIOUS: third.toString('hex'),
  }
  await using node = await startApp({ ...env, ...keys })
  expect(node.logs.some(line => line.message.includes('sealed with another key'))).toBe(false)
})
