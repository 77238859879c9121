import { writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { createRun } from '../runs/await-run.ts'
import { type App, rows } from '../start-app.ts'
import { temporaryFolder } from '../temporary-folder.ts'
import { type Receiver, startReceiver } from '../webhooks/receiver.ts'
import { startWebhookApp, untilDeliveries } from '../webhooks/webhook-app.ts'
import { runCli } from './run-cli.ts'

let app: App
let receiver: Receiver
beforeAll(async () => {
  app = await startWebhookApp()
  receiver = await startReceiver()
})
afterAll(async () => {
  await app[Symbol.asyncDispose]()
  await receiver[Symbol.asyncDispose]()
})

const cli = (...args: string[]) =>
  runCli(['webhooks', ...args], { env: { AGENTRUN_URL: app.base_url, AGENTRUN_TOKEN: app.token } })

test('a webhook is set, tried, switched off and on with what it has, and removed', async () => {
  expect((await cli()).out).toBe('no webhook\n')
  using folder = temporaryFolder()
  const file = join(folder.path, 'secret')
  writeFileSync(file, 'whsec_AAEC\n')
  const set = await cli(
    'set',
    receiver.url,
    '--secret-file',
    file,
    '--event',
    'agent_run.finished',
    '--event',
    'agent_run.created',
  )
  expect(set).toMatchObject({
    code: 0,
    out: `webhook  ${receiver.url}\nstate    on\nsigned   yes\nevents   agent_run.finished agent_run.created\n`,
  })
  expect(await cli('test')).toMatchObject({
    code: 0,
    out: expect.stringMatching(/^taken \(signed, \d+ ms\)\n$/),
  })
  expect(receiver.received[0]?.headers['webhook-signature']).toMatch(/^v1,/)
  receiver.responses = [500]
  expect(await cli('test')).toMatchObject({
    code: 1,
    out: expect.stringMatching(/^not taken: it responded with 500 \(signed/),
  })
  receiver.responses = [204]
  expect((await cli('off')).out).toContain(
    'state    off\nsigned   yes\nevents   agent_run.finished agent_run.created\n',
  )
  expect((await cli('on')).out).toContain('state    on\nsigned   yes\n')
  expect((await cli('set', receiver.url, '--unsigned')).out).toContain('signed   no\nevents   all\n')

  const { id } = await createRun(app, { prompt: 'Look' })
  const [one] = await untilDeliveries(app, all => all[0]?.state === 'delivered')
  expect((await cli('list', '--run', String(id))).out).toMatch(
    new RegExp(`^ID .*\n${one?.id} +${id} +agent_run.created +delivered +1 `),
  )
  expect(JSON.parse((await cli('list', '--state', 'failed', '--json')).out)).toMatchObject({ total: 0 })
  expect((await cli('delivery', String(one?.id))).out).toMatch(/: delivered\n1 {2}\S+ {2}204 {2}\d+ ms/)
  expect((await cli('redeliver', String(one?.id))).out).toBe(
    `queued: ${one?.id} agent_run.created of run ${id}\n`,
  )
  await untilDeliveries(app, all => all[0]?.state === 'delivered' && all[0].attempts === 2)
  await rows(app, `update webhook_deliveries set state = 'failed'`)
  expect((await cli('redeliver', 'failed', '--since', '2026-01-01T00:00:00Z')).out).toBe(
    'queued: 1; 0 are left, 0 have nobody to go to\n',
  )
  await untilDeliveries(app, all => all[0]?.state === 'delivered' && all[0].attempts === 3)
  expect((await cli('remove')).out).toBe('no webhook\n')
})

test('reports what is missing', async () => {
  for (const args of [['set'], ['delivery'], ['redeliver', 'x'], ['show', 'x'], ['send']])
    expect((await cli(...args)).code).toBe(2)
  for (const args of [['on'], ['test']])
    expect(await cli(...args)).toMatchObject({ code: 2, err: expect.stringContaining('there is no webhook') })
  expect((await cli('delivery', '424242')).code).toBe(1)
})
