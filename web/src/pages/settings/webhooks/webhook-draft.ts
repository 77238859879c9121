import type { Body } from '../../../../../src/contract/calls.ts'
import type { WebhookEvent } from '../../../../../src/contract/organizations/webhook-events.ts'
import type { Webhook } from './webhooks-query.ts'

/** `events`: null for all. `secret`: empty leaves the present one, which the API never shows. */
export type WebhookDraft = {
  url: string
  enabled: boolean
  events: WebhookEvent[] | null
  secret: string
  remove_secret: boolean
}

/** The draft for a new webhook is enabled. One that the service has disabled is enabled by saving it. */
export const draftOf = ({ url, enabled, events, disabled_at }: Webhook): WebhookDraft => ({
  url: url ?? '',
  enabled: enabled || url === null || disabled_at !== null,
  events,
  secret: '',
  remove_secret: false,
})

/** What has to be entered before the webhook can be saved, or null. */
export function missingIn({ url, events }: WebhookDraft): string | null {
  if (url.trim() === '') return 'Enter the address first'
  return events?.length === 0 ? 'Choose an event first' : null
}

export const requestOf = ({
  url,
  enabled,
  events,
  secret,
  remove_secret,
}: WebhookDraft): Body<'setWebhook'> => ({
  url: url.trim(),
  enabled,
  events,
  secret: remove_secret ? null : secret || undefined,
})

const SECRET_BYTES = 32

/** Returns a new secret as Standard Webhooks has it: `whsec_` and random bytes in base64. */
export const newSecret = () =>
  `whsec_${btoa(String.fromCharCode(...crypto.getRandomValues(new Uint8Array(SECRET_BYTES))))}`
