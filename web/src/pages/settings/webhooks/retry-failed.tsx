import { call } from '../../../api/client.ts'
import { webhookEvents } from '../../../api/names.ts'
import { sameNames } from '../../../components/filters.tsx'
import { ApiForm, SelectField, TextField } from '../../../components/form/api-form.tsx'
import { useForm } from '../../../components/form/use-form.ts'
import { plural } from '../../../text/format.ts'
import { Notice } from '../../../ui/notice.tsx'
import { webhookQuery } from './webhooks-query.ts'

type EventName = keyof typeof webhookEvents
const event_names = Object.keys(webhookEvents) as EventName[]

/** A time as the browser's field has it, without a zone, as the API has it. */
const iso = (local: string) => (local === '' ? null : new Date(local).toISOString())

/** Queues failed deliveries again, and shows how many. */
export function RetryFailed() {
  const { draft, field, request, props } = useForm({
    saved: { since: '', until: '', type: null as EventName | null },
    send: ({ since, until, type }) =>
      call('redeliverFailedWebhooks', { body: { since: iso(since), until: iso(until), type } }),
    refresh: [{ queryKey: ['webhook-deliveries'] }, webhookQuery],
    kept: ['since', 'until', 'type'],
  })
  const { data } = request
  return (
    <ApiForm {...props} label="Retry failed deliveries" submit="Retry">
      <p className="text-muted">
        Sends the failed deliveries again, the earliest first and at most 1,000, with their webhook-id. Choose
        a period after an outage of the receiver; without one, all are sent.
      </p>
      <div className="grid gap-4 sm:grid-cols-2">
        <TextField {...field('since')} label="Events from" type="datetime-local" max={draft.until} />
        <TextField {...field('until')} label="Events before" type="datetime-local" min={draft.since} />
      </div>
      <SelectField {...field('type')} label="Event" options={[[null, 'All'], ...sameNames(event_names)]} />
      {data && (
        <Notice>
          {plural(data.queued, 'delivery is', 'deliveries are')} sent again.
          {data.remaining > 0 && ` ${data.remaining.toLocaleString('en')} more remain: retry again later.`}
          {data.without_recipient > 0 &&
            ` ${data.without_recipient.toLocaleString('en')} no longer have a recipient.`}
        </Notice>
      )}
    </ApiForm>
  )
}
