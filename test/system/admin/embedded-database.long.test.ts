import { chmodSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { startServiceProcess } from '../../runs/recovery/service-process.ts'
import { temporaryFolder } from '../../temporary-folder.ts'
import { admin, embeddedService, get, printed } from './run-admin.ts'

const folder = temporaryFolder()
const { env, databases, start, stop } = embeddedService(join(folder.path, 'data'))
beforeAll(() => chmodSync(folder.path, 0o755))
afterAll(() => folder[Symbol.dispose]())

test('a backup of the running service, restored into a new data folder, is the service as it was', async () => {
  const service = await start()
  const token = await printed(['token'], env)
  const file = join(folder.path, 'backup.gz')
  const taken = await admin(['backup', file], env)
  expect(taken).toMatchObject({
    code: 0,
    out: '',
    err: expect.stringMatching(
      /^\d+ rows of \d+ tables are in .*backup\.gz \(content sha256 [0-9a-f]{64}\)\n$/,
    ),
  })
  expect(await admin(['backup', file], env)).toMatchObject({
    code: 1,
    err: `cannot do that: ${file} exists already\n`,
  })
  expect(await admin(['restore', file], env)).toMatchObject({
    code: 1,
    err: expect.stringContaining('the database is not empty'),
  })
  await stop(service)

  const elsewhere = join(folder.path, 'elsewhere')
  const restored = await admin(['restore', file], { AGENTRUN_DATA_DIR: elsewhere })
  expect(restored).toMatchObject({
    code: 0,
    out: '',
    err: expect.stringContaining('The database is as it was at 20'),
  })
  const again = await startServiceProcess({
    AGENTRUN_DATA_DIR: elsewhere,
    AGENTRUN_WORKER_CONCURRENCY: '0',
  })
  expect((await get(again.base_url, token, '/v1/users/me')).status).toBe(200)
  expect(again.output).not.toContain('token (shown only now)')
  again.child.kill('SIGTERM')
  expect((await again.ended).code).toBe(0)
})

test('after a kill of the service it takes over the database that was left running, and stops it', async () => {
  const service = await start()
  service.child.kill('SIGKILL')
  await service.ended
  expect(databases()).not.toEqual([])
  const token = await printed(['token'], env)
  expect(databases()).toEqual([])
  const again = await start()
  expect((await get(again.base_url, token, '/v1/users/me')).status).toBe(200)
  await stop(again)
})

test('a command that comes while the service starts waits for its database', async () => {
  const starting = start()
  const reported = admin(['token'], env)
  const service = await starting
  const { code, out, err } = await reported
  // The first to lock the folder continues; the other reports it or waits.
  if (service.base_url === '') expect((await service.ended).output).toContain('is in use by process')
  expect({ code, err }).toMatchObject({ code: 0 })
  const running = service.base_url === '' ? await start() : service
  expect((await get(running.base_url, out, '/v1/users/me')).status).toBe(200)
  await stop(running)
})
