import { call } from '../../../api/client.ts'
import { webhookEvents } from '../../../api/names.ts'
import { ApiForm, SwitchField, TextField } from '../../../components/form/api-form.tsx'
import { ConfirmDialog } from '../../../components/form/confirm-dialog.tsx'
import { useForm } from '../../../components/form/use-form.ts'
import { useDialog } from '../../../components/resource-page.tsx'
import { Button } from '../../../ui/button.tsx'
import { CheckList } from '../../../ui/check-list.tsx'
import { SecretField } from './secret-field.tsx'
import { TestMessage } from './test-message.tsx'
import { draftOf, missingIn, requestOf } from './webhook-draft.ts'
import { type Webhook, webhookQuery } from './webhooks-query.ts'

type EventName = keyof typeof webhookEvents

const event_options = (Object.keys(webhookEvents) as EventName[]).map(value => ({
  value,
  label: <code className="font-mono text-xs">{value}</code>,
  hint: webhookEvents[value],
}))

/** Sets the webhook of the organization, and deletes it. */
export function WebhookForm({ webhook }: { webhook: Webhook }) {
  const { draft, set, field, changed, props } = useForm({
    saved: draftOf(webhook),
    send: edited => call('setWebhook', { body: requestOf(edited) }),
    stored: webhookQuery,
    done: 'Saved',
  })
  const { dialog, show } = useDialog()
  const { value: events, ...of_events } = field('events')
  return (
    <>
      <ApiForm
        {...props}
        label="Webhook"
        // Saving enables a disabled webhook, also without a change.
        changed={changed || (webhook.disabled_at === null ? false : undefined)}
        missing={missingIn(draft)}
        submit={webhook.url === null ? 'Add webhook' : 'Save'}
        note={
          webhook.url !== null && (
            <Button variant="danger" onClick={() => show(close => <Deletion on_close={close} />)}>
              Delete webhook
            </Button>
          )
        }
      >
        <TextField
          {...field('url')}
          label="Address"
          hint="https or http. Private addresses are refused, unless the operator permits them."
          placeholder="https://hooks.example.org/runs"
          mono
        />
        <SecretField webhook={webhook} draft={draft} set={set} problem={field('secret').problem} />
        <div className="space-y-3">
          <SwitchField
            label="Only some events"
            value={events !== null}
            on_change={some => set({ events: some ? [] : null })}
          />
          {events !== null && (
            <CheckList {...of_events} legend="Events" options={event_options} chosen={events} />
          )}
        </div>
        <SwitchField {...field('enabled')} label="Enabled. Events while it is off are not sent" />
      </ApiForm>
      <TestMessage url={draft.url.trim()} />
      {dialog}
    </>
  )
}

const Deletion = ({ on_close }: { on_close: () => void }) => (
  <ConfirmDialog
    title="Delete webhook"
    action="Delete webhook"
    send={() => call('deleteWebhook', {})}
    stored={webhookQuery}
    done="The webhook was deleted"
    on_close={on_close}
  >
    Nothing more is sent to it, and messages that wait for it fail. Its secret cannot be restored. The list of
    deliveries stays.
  </ConfirmDialog>
)
