import { AdminOnly } from '../../../components/admin-only.tsx'
import { QueryPage } from '../../../components/resource-page.tsx'
import { Deliveries } from './deliveries.tsx'
import { WebhookForm } from './webhook-form.tsx'
import { WebhookState } from './webhook-state.tsx'
import { webhookQuery } from './webhooks-query.ts'

/** The webhook of the organization, and what was sent. */
export const WebhooksPage = () => (
  <AdminOnly heading="Webhooks" what="webhooks">
    <QueryPage
      query={webhookQuery}
      heading="Webhooks"
      about="What runs do is sent to an address of yours, as Standard Webhooks: signed, in the order of each run, at least once, and for a day until it is accepted. A run that was created with webhooks of its own is reported to those instead."
      loading="Loading the webhook"
    >
      {webhook => (
        <div className="space-y-10">
          <div className="max-w-2xl space-y-4">
            <WebhookState webhook={webhook} />
            <WebhookForm key={webhook.url === null ? 'new' : 'saved'} webhook={webhook} />
          </div>
          <Deliveries />
        </div>
      )}
    </QueryPage>
  </AdminOnly>
)
