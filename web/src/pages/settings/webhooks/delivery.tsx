import { useQuery } from '@tanstack/react-query'
import { Link, useParams } from '@tanstack/react-router'
import { call } from '../../../api/client.ts'
import { AdminOnly } from '../../../components/admin-only.tsx'
import { JsonView } from '../../../components/entries/json-view.tsx'
import { Facts } from '../../../components/facts.tsx'
import { useRequest } from '../../../components/form/use-request.ts'
import { Page } from '../../../components/page.tsx'
import { PageProblem } from '../../../components/page-problem.tsx'
import { moment } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Loading, Notice } from '../../../ui/notice.tsx'
import { DeliveryAttempts } from './delivery-attempts.tsx'
import { DeliveryState } from './delivery-state.tsx'
import { type DeliveryDetail, deliveryQuery } from './webhooks-query.ts'

/** One message with its attempts. */
export function DeliveryPage() {
  const { deliveryId } = useParams({ from: '/app/settings/webhooks/$deliveryId' })
  if (!/^\d{1,15}$/.test(deliveryId)) return <PageProblem error={null} what="delivery" />
  return (
    <AdminOnly heading={`Delivery ${deliveryId}`} what="webhooks">
      <DeliveryView id={Number(deliveryId)} />
    </AdminOnly>
  )
}

function DeliveryView({ id }: { id: number }) {
  const delivery = useQuery(deliveryQuery(id))
  const retry = useRequest(() => call('redeliverWebhook', { params: { delivery_id: id } }), {
    refresh: [deliveryQuery(id), { queryKey: ['webhook-deliveries'] }],
    done: 'The delivery is sent again',
  })
  if (delivery.isError)
    return <PageProblem error={delivery.error} retry={() => delivery.refetch()} what="delivery" />
  const { data } = delivery
  return (
    <Page
      heading={`Delivery ${id}`}
      note={data && <DeliveryState state={data.state} last_status={data.last_status} />}
      actions={
        <Button
          reason={data ? null : 'The delivery is loading'}
          busy={retry.isPending}
          onClick={() => retry.mutate()}
        >
          {data?.state === 'pending' ? 'Send now' : 'Send again'}
        </Button>
      }
    >
      {!data && <Loading label="Loading the delivery" />}
      {data && (
        <div className="max-w-4xl space-y-6">
          {retry.error && <Notice tone="bad">{visible(retry.error.message)}</Notice>}
          {data.error !== null && (
            <Notice tone={data.state === 'failed' ? 'bad' : 'warn'}>{visible(data.error)}</Notice>
          )}
          <Facts facts={[...factsOf(data)]} />
          <DeliveryAttempts attempts={data.log} />
          <section aria-labelledby="message">
            <div className="mb-2 flex items-center gap-1">
              <h2 id="message" className="font-semibold">
                Message
              </h2>
              <CopyButton label="Copy the message" text={() => JSON.stringify(data.message, null, 2)} />
            </div>
            <JsonView title="Body" value={data.message} whole />
          </section>
        </div>
      )}
    </Page>
  )
}

function factsOf({
  type,
  agent_run_id,
  url,
  message_id,
  created_at,
  finished_at,
  next_attempt_at,
}: DeliveryDetail) {
  return [
    ['Event', <code key="event">{type}</code>],
    [
      'Run',
      <Link
        key="run"
        to="/agent/trace/$id"
        params={{ id: String(agent_run_id) }}
        className="text-accent underline"
      >
        #{agent_run_id}
      </Link>,
    ],
    ['To', url === null ? 'The webhook of the organization' : <code key="to">{visible(url)}</code>],
    ['webhook-id', <code key="id">{message_id}</code>],
    ['Happened', moment(created_at)],
    ['Finished', finished_at && moment(finished_at)],
    ['Next attempt', next_attempt_at && moment(next_attempt_at)],
  ] as const
}
