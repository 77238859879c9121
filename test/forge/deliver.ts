import { createHmac, randomUUID } from 'node:crypto'

export const SECRET = 'a-secret-of-the-webhooks-of-tests'

// biome-ignore lint/suspicious/noExplicitAny: answers of many shapes are looked into
type Told = { status: number; headers: Headers; body: any }

/** Sends a webhook as GitHub does. `wrong`: what is otherwise than GitHub would have it. */
export async function deliver(
  url: string,
  event: string,
  payload: unknown,
  wrong: { delivery?: string; signature?: string | null; body?: Buffer; type?: string; secret?: string } = {},
): Promise<Told> {
  const body = wrong.body ?? Buffer.from(JSON.stringify(payload))
  const signature =
    wrong.signature ??
    `sha256=${createHmac('sha256', wrong.secret ?? SECRET)
      .update(body)
      .digest('hex')}`
  const response = await fetch(url, {
    method: 'POST',
    headers: {
      ...{ 'content-type': wrong.type ?? 'application/json', 'user-agent': 'GitHub-Hookshot/1', 'x-github-event': event },
      'x-github-delivery': wrong.delivery ?? randomUUID(),
      ...(wrong.signature !== null && { 'x-hub-signature-256': signature }),
    },
    body: new Uint8Array(body),
  })
  return { status: response.status, headers: response.headers, body: await response.json() }
}
