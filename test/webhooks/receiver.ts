import { once } from 'node:events'
import { createServer, type IncomingMessage, type ServerResponse } from 'node:http'
import type { WebhookMessage } from '../../src/contract/webhooks/webhook-messages.ts'

export type ReceivedDelivery = {
  headers: Record<string, string>
  body: string
  message: WebhookMessage
  path: string
}
/** The response: a status, or a function that writes it. */
export type WebhookResponse =
  | number
  | ((request: IncomingMessage, response: ServerResponse, received: ReceivedDelivery) => void)

export type Receiver = AsyncDisposable & {
  url: string
  /** Everything that was received, in order. */
  received: ReceivedDelivery[]
  /** The responses from now on, in order; the last one is repeated. */
  responses: WebhookResponse[]
  /** Waits until that many fitting messages were received. */
  until(
    count: number,
    fits?: (received: ReceivedDelivery) => boolean,
    timeout_ms?: number,
  ): Promise<ReceivedDelivery[]>
}

/** A receiver of webhooks on loopback. */
export async function startReceiver(...responses: WebhookResponse[]): Promise<Receiver> {
  const received: ReceivedDelivery[] = []
  const listeners = new Set<() => void>()
  const receiver = { received, responses: responses.length > 0 ? responses : [204] }
  const server = createServer(async (request, response) => {
    const pieces: Buffer[] = []
    for await (const piece of request) pieces.push(piece as Buffer)
    const body = Buffer.concat(pieces).toString('utf8')
    const one: ReceivedDelivery = {
      headers: request.headers as Record<string, string>,
      body,
      message: JSON.parse(body),
      path: request.url ?? '',
    }
    received.push(one)
    const result = (receiver.responses.length > 1 ? receiver.responses.shift() : receiver.responses[0]) ?? 204
    if (typeof result === 'number') response.writeHead(result).end()
    else result(request, response, one)
    for (const listener of listeners) listener()
  })
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  const address = server.address()
  const port = typeof address === 'object' && address ? address.port : 0
  return Object.assign(receiver, {
    url: `http://127.0.0.1:${port}/hook`,
    async until(
      count: number,
      fits: (received: ReceivedDelivery) => boolean = () => true,
      timeout_ms = 20_000,
    ) {
      const { promise, resolve, reject } = Promise.withResolvers<void>()
      const poll = () => received.filter(fits).length >= count && resolve()
      const timer = setTimeout(
        () =>
          reject(
            new Error(
              `${received.filter(fits).length} of ${count} came: ${JSON.stringify(received.map(one => one.message))}`,
            ),
          ),
        timeout_ms,
      )
      listeners.add(poll)
      poll()
      try {
        await promise
      } finally {
        listeners.delete(poll)
        clearTimeout(timer)
      }
      return received.filter(fits)
    },
    async [Symbol.asyncDispose]() {
      server.close()
      server.closeAllConnections()
    },
  })
}
