import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessages, messageWithin } from '../../../api/api-error.ts'
import { call } from '../../../api/client.ts'
import { webhookEvents } from '../../../api/names.ts'
import { ApiForm, TextField } from '../../../components/form/api-form.tsx'
import { ConfirmDialog } from '../../../components/form/confirm-dialog.tsx'
import { Button } from '../../../ui/button.tsx'
import { CheckList } from '../../../ui/check-list.tsx'
import { Switch } from '../../../ui/field.tsx'
import { notify } from '../../../ui/toast.ts'
import { SecretField } from './secret-field.tsx'
import { TestMessage } from './test-message.tsx'
import { draftOf, missingIn, requestOf, type WebhookDraft } from './webhook-draft.ts'
import { type Webhook, webhookQuery } from './webhooks-query.ts'

type EventName = keyof typeof webhookEvents

const event_options = (Object.keys(webhookEvents) as EventName[]).map(value => ({
  value,
  label: <code className="font-mono text-xs">{value}</code>,
  hint: webhookEvents[value],
}))

/** Sets the webhook of the organization, and deletes it. */
export function WebhookForm({ webhook }: { webhook: Webhook }) {
  const queries = useQueryClient()
  const [touched, setTouched] = useState<Partial<WebhookDraft>>({})
  const [deleting, setDeleting] = useState(false)
  const now = { ...draftOf(webhook), ...touched }
  const set = (change: Partial<WebhookDraft>) => setTouched(old => ({ ...old, ...change }))
  const save = useMutation({
    mutationFn: () => call('setWebhook', { body: requestOf(now) }),
    onSuccess: saved => {
      queries.setQueryData(webhookQuery.queryKey, saved)
      setTouched({})
      notify('Saved')
    },
  })
  const problems = fieldMessages(save.error)
  const changed = Object.keys(touched).length > 0
  return (
    <>
      <ApiForm
        label="Webhook"
        request={save}
        fields={['url', 'secret', ...Object.keys(problems).filter(name => name.startsWith('events'))]}
        // Saving enables a disabled webhook, also without a change.
        changed={changed || (webhook.disabled_at === null ? false : undefined)}
        missing={missingIn(now)}
        submit={webhook.url === null ? 'Add webhook' : 'Save'}
        variant="primary"
        note={
          webhook.url !== null && (
            <Button variant="danger" onClick={() => setDeleting(true)}>
              Delete webhook
            </Button>
          )
        }
      >
        <TextField
          label="Address"
          hint="https or http. Private addresses are refused, unless the operator permits them."
          placeholder="https://hooks.example.org/runs"
          mono
          problem={problems.url}
          value={now.url}
          on_change={url => set({ url })}
        />
        <SecretField webhook={webhook} draft={now} set={set} problem={problems.secret} />
        <div className="space-y-3">
          <Switch
            label="Only some events"
            checked={now.events !== null}
            onChange={event => set({ events: event.target.checked ? [] : null })}
          />
          {now.events !== null && (
            <CheckList
              legend="Events"
              options={event_options}
              chosen={now.events}
              on_change={events => set({ events })}
              problem={messageWithin(problems, 'events')}
            />
          )}
        </div>
        <Switch
          label="Enabled. What happens while it is off is not sent"
          checked={now.enabled}
          onChange={event => set({ enabled: event.target.checked })}
        />
      </ApiForm>
      <TestMessage url={now.url.trim()} />
      <Deletion open={deleting} on_close={() => setDeleting(false)} />
    </>
  )
}

function Deletion({ open, on_close }: { open: boolean; on_close: () => void }) {
  const queries = useQueryClient()
  const remove = useMutation({
    mutationFn: () => call('deleteWebhook', {}),
    onSuccess: now => {
      queries.setQueryData(webhookQuery.queryKey, now)
      on_close()
      notify('The webhook was deleted')
    },
  })
  return (
    <ConfirmDialog
      title="Delete webhook"
      action="Delete webhook"
      request={remove}
      open={open}
      on_close={on_close}
    >
      Nothing more is sent to it, and messages that wait for it fail. Its secret cannot be restored. The list
      of deliveries stays.
    </ConfirmDialog>
  )
}
