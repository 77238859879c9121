import { storedJson } from '../json/stored-json.ts'
import type { SealedValue, Sealer } from '../secrets/sealing.ts'
import { runTargetContext, type StoredTarget, webhookContext } from './webhook-secrets.ts'
import { signatureHeader } from './webhook-signature.ts'

/**
 * The destination of a message and its signing secrets. `unreadable`: a secret that no configured key opens.
 */
export type Recipient = { url: string; secrets: string[]; unreadable: boolean }

/** Returns the organization's webhook from its stored form. */
export function ownRecipient(
  sealer: Sealer,
  organization_id: number,
  webhook: { url: string; secrets: SealedValue[] },
): Recipient {
  return opened(webhook.url, webhook.secrets, sealed => sealer.open(webhookContext(organization_id), sealed))
}

/** Returns the target of a run with that URL from its stored form; null: the run no longer has it. */
export function runRecipient(
  sealer: Sealer,
  organization_id: number,
  targets: string | null,
  url: string,
): Recipient | null {
  const target = storedJson<StoredTarget[]>(targets ?? '[]').find(one => one.url === url)
  if (target === undefined) return null
  const { key_id, sealed } = target
  const secrets =
    key_id === undefined || sealed === undefined ? [] : [{ key_id, sealed: Buffer.from(sealed, 'base64') }]
  return opened(url, secrets, each => sealer.open(runTargetContext(organization_id, url), each))
}

function opened(url: string, sealed: SealedValue[], open: (sealed: SealedValue) => string): Recipient {
  try {
    return { url, secrets: sealed.map(open), unreadable: false }
  } catch {
    return { url, secrets: [], unreadable: true }
  }
}

/** Returns the headers of Standard Webhooks; without a secret there is no signature. */
export function webhookHeaders(
  secrets: readonly string[],
  id: string,
  now_ms: number,
  body: string,
): Record<string, string> {
  const timestamp = Math.floor(now_ms / 1_000)
  return {
    'content-type': 'application/json',
    'user-agent': 'agentrun-webhooks',
    'webhook-id': id,
    'webhook-timestamp': String(timestamp),
    ...(secrets.length > 0 && { 'webhook-signature': signatureHeader(secrets, id, timestamp, body) }),
  }
}
