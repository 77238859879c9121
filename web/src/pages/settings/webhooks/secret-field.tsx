import { TextField } from '../../../components/form/api-form.tsx'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Switch } from '../../../ui/field.tsx'
import { newSecret, type WebhookDraft } from './webhook-draft.ts'
import type { Webhook } from './webhooks-query.ts'

type Props = {
  webhook: Webhook
  draft: WebhookDraft
  set: (change: Partial<WebhookDraft>) => void
  problem: string | undefined
}

/** The secret that signs messages. It can be read only until it is saved. */
export function SecretField({
  webhook: { has_secret },
  draft: { secret, remove_secret },
  set,
  problem,
}: Props) {
  const hint = has_secret
    ? 'Empty: it stays as it is. Another one replaces it; the previous one signs too for a day.'
    : 'Empty: messages are not signed.'
  return (
    <div className="space-y-2">
      <TextField
        label="Secret"
        hint={secret === '' ? hint : 'Give it to the receiver before you save: it is never shown again.'}
        placeholder={has_secret ? 'set, and not shown' : 'whsec_…'}
        mono
        problem={problem}
        value={secret}
        on_change={text => set({ secret: text, remove_secret: false })}
      />
      <div className="flex flex-wrap items-center gap-3">
        <Button onClick={() => set({ secret: newSecret(), remove_secret: false })}>Generate a secret</Button>
        {secret !== '' && <CopyButton label="Copy the secret" text={() => secret} />}
        {has_secret && (
          <Switch
            label="Remove the secret"
            checked={remove_secret}
            onChange={event => set({ remove_secret: event.target.checked, secret: '' })}
          />
        )}
      </div>
    </div>
  )
}
