import { createHmac, randomUUID } from 'node:crypto'

export const SECRET = 'a-secret-of-the-webhooks-of-tests'

// biome-ignore lint/suspicious/noExplicitAny: responses of many shapes are read without types
type DeliveryResponse = { status: number; headers: Headers; body: any }
type Wrong = {
  delivery?: string
  signature?: string | null
  body?: Buffer
  type?: string
  secret?: string
  event_type?: string
}

/**
 * The sender, and its headers: Forgejo sends everything under Gitea's names too, and here only under its own.
 */
const ways = {
  github: {
    agent: 'GitHub-Hookshot/1',
    event: 'x-github-event',
    delivery: 'x-github-delivery',
    signature: 'x-hub-signature-256',
    prefix: 'sha256=',
  },
  gitea: {
    agent: 'Go-http-client/1.1',
    event: 'x-gitea-event',
    delivery: 'x-gitea-delivery',
    signature: 'x-gitea-signature',
    prefix: '',
  },
  forgejo: {
    agent: 'Go-http-client/1.1',
    event: 'x-forgejo-event',
    delivery: 'x-forgejo-delivery',
    signature: 'x-forgejo-signature',
    prefix: '',
  },
}

/** Sends a webhook as a forge does. `wrong`: what is otherwise than the forge would have it. */
export async function deliver(
  url: string,
  event: string,
  payload: unknown,
  { as = 'github', ...wrong }: Wrong & { as?: keyof typeof ways } = {},
): Promise<DeliveryResponse> {
  const way = ways[as]
  const body = wrong.body ?? Buffer.from(JSON.stringify(payload))
  const signed = createHmac('sha256', wrong.secret ?? SECRET)
    .update(body)
    .digest('hex')
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      'content-type': wrong.type ?? 'application/json',
      'user-agent': way.agent,
      [way.event]: event,
      [way.delivery]: wrong.delivery ?? randomUUID(),
      ...(wrong.event_type && { 'x-gitea-event-type': wrong.event_type }),
      ...(wrong.signature !== null && { [way.signature]: wrong.signature ?? `${way.prefix}${signed}` }),
    },
    body: new Uint8Array(body),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}
