import { useQuery } from '@tanstack/react-query'
import { AdminOnly } from '../../../components/admin-only.tsx'
import { Page } from '../../../components/page.tsx'
import { PageProblem } from '../../../components/page-problem.tsx'
import { Loading } from '../../../ui/notice.tsx'
import { Deliveries } from './deliveries.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { WebhookState } from './webhook-state.tsx'
import { webhookQuery } from './webhooks-query.ts'

/** The webhook of the organization, and what was sent. */
export const WebhooksPage = () => (
  <AdminOnly heading="Webhooks" what="webhooks">
    <Webhooks />
  </AdminOnly>
)

function Webhooks() {
  const webhook = useQuery(webhookQuery)
  if (webhook.isError) return <PageProblem error={webhook.error} retry={() => webhook.refetch()} />
  return (
    <Page
      heading="Webhooks"
      about="What runs do is sent to an address of yours, as Standard Webhooks: signed, in the order of each run, at least once, and for a day until it is accepted. A run that was created with webhooks of its own is reported to those instead."
    >
      {!webhook.data && <Loading label="Loading the webhook" />}
      {webhook.data && (
        <div className="space-y-10">
          <div className="max-w-2xl space-y-4">
            <WebhookState webhook={webhook.data} />
            <WebhookForm key={webhook.data.url === null ? 'new' : 'saved'} webhook={webhook.data} />
          </div>
          <Deliveries />
        </div>
      )}
    </Page>
  )
}
