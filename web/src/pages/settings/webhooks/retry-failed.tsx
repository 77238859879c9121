import { useMutation, useQueryClient } from '@tanstack/react-query'
import { useState } from 'react'
import { fieldMessages } from '../../../api/api-error.ts'
import { call } from '../../../api/client.ts'
import { webhookEvents } from '../../../api/names.ts'
import { ApiForm } from '../../../components/form/api-form.tsx'
import { plural } from '../../../text/format.ts'
import { Field, Input, Select } from '../../../ui/field.tsx'
import { Notice } from '../../../ui/notice.tsx'
import { webhookQuery } from './webhooks-query.ts'

type EventName = keyof typeof webhookEvents
const event_names = Object.keys(webhookEvents) as EventName[]

/** A time as the browser's field has it, without a zone, as the API has it. */
const iso = (local: string) => (local === '' ? null : new Date(local).toISOString())

/** Queues failed deliveries again, and shows how many. */
export function RetryFailed() {
  const queries = useQueryClient()
  const [since, setSince] = useState('')
  const [until, setUntil] = useState('')
  const [type, setType] = useState<EventName | null>(null)
  const retry = useMutation({
    mutationFn: () =>
      call('redeliverFailedWebhooks', { body: { since: iso(since), until: iso(until), type } }),
    onSuccess: () =>
      Promise.all(
        [['webhook-deliveries'], webhookQuery.queryKey].map(queryKey =>
          queries.invalidateQueries({ queryKey }),
        ),
      ),
  })
  const problems = fieldMessages(retry.error)
  const { data } = retry
  return (
    <ApiForm
      label="Retry failed deliveries"
      request={retry}
      fields={['since', 'until', 'type']}
      submit="Retry"
      variant="primary"
    >
      <p className="text-muted">
        Sends the failed deliveries again, the earliest first and at most 1,000, with their webhook-id. Choose
        a period after an outage of the receiver; without one, all are sent.
      </p>
      <div className="grid gap-4 sm:grid-cols-2">
        <Field label="Events from" problem={problems.since}>
          {props => (
            <Input
              {...props}
              type="datetime-local"
              value={since}
              max={until}
              onChange={event => setSince(event.target.value)}
            />
          )}
        </Field>
        <Field label="Events before" problem={problems.until}>
          {props => (
            <Input
              {...props}
              type="datetime-local"
              value={until}
              min={since}
              onChange={event => setUntil(event.target.value)}
            />
          )}
        </Field>
      </div>
      <Field label="Event" problem={problems.type}>
        {props => (
          <Select
            {...props}
            value={type ?? ''}
            onChange={event => setType(event_names.find(name => name === event.target.value) ?? null)}
          >
            <option value="">All</option>
            {event_names.map(name => (
              <option key={name}>{name}</option>
            ))}
          </Select>
        )}
      </Field>
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
