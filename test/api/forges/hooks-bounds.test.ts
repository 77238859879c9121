import { request } from 'node:http'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { deliver, SECRET } from '../../forge/deliver.ts'
import { type App, startApp } from '../../start-app.ts'

let app: App
let hook: string
beforeAll(async () => {
  app = await startApp({
    AGENTRUN_WORKER_CONCURRENCY: '0',
    AGENTRUN_ALLOW_PRIVATE_GIT: '1',
    AGENTRUN_LIMIT_FAILED_TOKENS: '5/60',
  })
  const set = { url: 'http://127.0.0.1:9', token: 't', webhook_secret: SECRET }
  hook = (await app.call('PUT', `/v1/organizations/${app.org_id}/integrations/gitea`, set)).body.webhook_url
})
afterAll(() => app[Symbol.asyncDispose]())

const LARGE = 2 * 1024 * 1024
const unsigned = { 'x-gitea-event': 'push', 'x-gitea-delivery': 'one' }

/**
 * Sends the headers of a delivery and nothing of its body. Resolves with the status of a response that does
 * not wait for it.
 */
function sendHeaders(url: string, headers: Record<string, string>): Promise<number | undefined> {
  return new Promise((resolve, reject) => {
    const own = { 'content-type': 'application/json', 'content-length': String(LARGE) }
    const sent = request(url, { method: 'POST', headers: { ...own, ...headers } }, response => {
      resolve(response.statusCode)
      sent.destroy()
    })
    sent.on('error', reject)
    sent.flushHeaders()
  })
}

test('a delivery for an unknown connection, or without a signature, is refused before its body is read', async () => {
  expect(await sendHeaders(`${app.base_url}/hooks/gitea/999`, unsigned)).toBe(404)
  expect(await sendHeaders(hook, unsigned)).toBe(401)
  expect(await sendHeaders(hook, { ...unsigned, 'x-gitea-signature': 'not a digest' })).toBe(401)
})

test('an address with many wrong signatures may send no large body, and its small deliveries still count', async () => {
  const wrong = { as: 'gitea', secret: 'another-secret' } as const
  const statuses = []
  for (let i = 0; i < 4; i++) statuses.push((await deliver(hook, 'push', {}, wrong)).status)
  expect(statuses).toEqual([401, 401, 429, 429])
  expect(await sendHeaders(hook, { ...unsigned, 'x-gitea-signature': 'a'.repeat(64) })).toBe(429)
  expect(await deliver(hook, 'issues', { action: 'opened' }, { as: 'gitea' })).toMatchObject({
    status: 200,
    body: { received: true },
  })
})
