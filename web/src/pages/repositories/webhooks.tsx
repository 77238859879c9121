import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import { call } from '../../api/client.ts'
import { forgesQuery, meQuery } from '../../api/queries.ts'
import { forgeKinds } from '../../components/forges/forge-kinds.ts'
import { PageTitle } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { visible } from '../../text/visible.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Loading } from '../../ui/notice.tsx'
import { forgeOf } from './forge-of.ts'
import { useRepository } from './use-repository.ts'

/** The messages about a repository, in both directions. Both are set up once for all repositories. */
export function RepositoryWebhooks() {
  const { full_name } = useRepository()
  return (
    <div className="max-w-2xl space-y-8">
      <PageTitle>{`Webhooks · ${full_name}`}</PageTitle>
      <Part heading="From the service">
        <p>The webhook of the organization reports the runs of this repository, with those of all others.</p>
        <Outgoing />
      </Part>
      <Part heading="From the forge">
        <p>
          Comments, reviews and checks on the forge reach the service by a webhook of the forge. Without one
          the service polls.
        </p>
        <Incoming />
      </Part>
    </div>
  )
}

const Part = ({ heading, children }: { heading: string; children: ReactNode }) => (
  <section aria-label={heading} className="space-y-2 text-muted text-sm">
    <h2 className="font-semibold text-base text-ink">{heading}</h2>
    {children}
  </section>
)

function Outgoing() {
  const may_view = useQuery(meQuery).data?.role === 'ADMIN'
  const webhook = useQuery({
    queryKey: ['webhook'],
    queryFn: ({ signal }) => call('getWebhook', { signal }),
    enabled: may_view,
  })
  if (!may_view) return <p>An ADMIN of the organization sets it up.</p>
  if (webhook.isError)
    return <PageProblem error={webhook.error} retry={() => webhook.refetch()} what="webhook" />
  if (!webhook.data) return <Loading label="Loading the webhook" />
  const { url, enabled } = webhook.data
  return (
    <>
      <p className="text-ink [overflow-wrap:anywhere]">
        {url === null ? 'No webhook is set up.' : <code className="font-mono text-xs">{visible(url)}</code>}
        {url !== null && !enabled && ' (disabled)'}
      </p>
      <p>
        <Link to="/settings/webhooks" className="text-accent underline">
          {url === null ? 'Add a webhook' : 'Webhook and deliveries'}
        </Link>
      </p>
    </>
  )
}

function Incoming() {
  const { url } = useRepository()
  const forges = useQuery(forgesQuery)
  if (forges.isError)
    return <PageProblem error={forges.error} retry={() => forges.refetch()} what="connection" />
  if (!forges.data) return <Loading label="Loading the connections" />
  const forge = forgeOf(url, forges.data)
  return (
    <>
      {forge ? (
        <p className="flex flex-wrap items-center gap-1 text-ink">
          {forgeKinds[forge.kind].name} sends to{' '}
          <code className="font-mono text-xs [overflow-wrap:anywhere]">{visible(forge.webhook_url)}</code>
          <CopyButton label="Copy the address of the webhook" text={() => forge.webhook_url} />
        </p>
      ) : (
        <p className="text-ink">This repository is on no connected forge.</p>
      )}
      <p>
        <Link to="/settings/integrations" className="text-accent underline">
          Integrations
        </Link>
      </p>
    </>
  )
}
