import { afterAll, afterEach, beforeAll } from 'vitest'
import type { WebhookDelivery } from '../../src/contract/webhooks/webhook-deliveries.ts'
import { type App, rows, startApp } from '../start-app.ts'
import { type Receiver, startReceiver } from './receiver.ts'

/** A service whose operator allows webhooks on loopback, where the receivers of tests are. */
export const startWebhookApp = (env: Record<string, string> = {}): Promise<App> =>
  startApp({ AGENTRUN_WORKER_CONCURRENCY: '0', AGENTRUN_ALLOW_PRIVATE_EGRESS: '1', ...env })

/**
 * Such a service and a receiver for all tests of a file; after each there is no webhook, no delivery, and the
 * receiver accepts everything.
 */
export function shareWebhookApp(use: (shared: { app: App; receiver: Receiver }) => void): void {
  const stack = new AsyncDisposableStack()
  let app: App
  let receiver: Receiver
  beforeAll(async () => {
    app = stack.use(await startWebhookApp())
    receiver = stack.use(await startReceiver())
    use({ app, receiver })
  })
  afterAll(() => stack.disposeAsync())
  afterEach(async () => {
    await app.call('DELETE', hook(app))
    await rows(app, 'delete from webhook_deliveries')
    receiver.received.splice(0)
    receiver.responses = [204]
  })
}

export const hook = (app: App) => `/v1/organizations/${app.org_id}/webhooks/agent-run`

export async function setHook(app: App, url: string, more: Record<string, unknown> = {}): Promise<void> {
  const { status, body } = await app.call('POST', hook(app), { url, ...more })
  if (status !== 200) throw new Error(JSON.stringify(body))
}

export async function deliveriesOf(app: App, query = ''): Promise<WebhookDelivery[]> {
  return (await app.call('GET', `${hook(app)}/deliveries${query}`)).body.items
}

/**
 * Polls until the ledger is as expected: deliveries run in the background, so there is nothing else to wait
 * for.
 */
export async function untilDeliveries(
  app: App,
  fits: (deliveries: WebhookDelivery[]) => boolean,
  query = '',
): Promise<WebhookDelivery[]> {
  for (const end = Date.now() + 20_000; Date.now() < end; ) {
    const found = await deliveriesOf(app, query)
    if (fits(found)) return found
    await new Promise(resolve => setTimeout(resolve, 20))
  }
  throw new Error(`the ledger did not become as expected: ${JSON.stringify(await deliveriesOf(app, query))}`)
}

/** The time of the next attempt has come. */
export async function hurry(app: App): Promise<void> {
  await rows(
    app,
    `update webhook_deliveries
      set next_attempt_at = now()
      where state = 'pending' and next_attempt_at is not null and lease_until is null`,
  )
  await rows(app, 'update webhooks set rests_until = null')
  await rows(app, `select pg_notify('agentrun_webhook', '')`)
}
