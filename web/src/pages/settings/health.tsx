import { queryOptions, useQuery } from '@tanstack/react-query'
import { Link, linkOptions } from '@tanstack/react-router'
import { CircleCheck, CircleX, TriangleAlert } from 'lucide-react'
import type { Result } from '../../../../src/contract/calls.ts'
import { call } from '../../api/client.ts'
import { AdminOnly } from '../../components/admin-only.tsx'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { plural } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Loading, Notice } from '../../ui/notice.tsx'
import type { SectionLink } from '../../ui/section-nav.tsx'
import { StatusLine } from '../../ui/status-line.tsx'

type Check = Result<'getOrganizationHealth'>['checks'][number]

const healthQuery = queryOptions({
  queryKey: ['health'],
  queryFn: ({ signal }) => call('getOrganizationHealth', { signal }),
  staleTime: 0,
})

/** The checks of `agentrun doctor` that concern the organization. */
export const HealthPage = () => (
  <AdminOnly heading="Health" what="the health of the organization">
    <HealthChecks />
  </AdminOnly>
)

function HealthChecks() {
  const health = useQuery(healthQuery)
  if (health.isError)
    return <PageProblem error={health.error} retry={() => health.refetch()} what="overview" />
  const { data } = health
  const summary = data
    ? data.broken === 0
      ? 'Nothing is broken.'
      : `${plural(data.broken, 'check')} failed.`
    : ''
  return (
    <Page
      heading="Health"
      width="narrow"
      about="What runs of this organization need: workers and their sandboxes, repositories, models, integrations, stored keys and the webhook."
      actions={
        <Button busy={health.isFetching} onClick={() => health.refetch()}>
          Check again
        </Button>
      }
    >
      <StatusLine message={summary} />
      {!data && <Loading label="Checking" />}
      {data && (
        <div className="space-y-3">
          <Notice tone={data.broken > 0 ? 'warn' : 'info'}>{summary}</Notice>
          <ul aria-label="Checks" className="rounded-lg border border-line bg-surface">
            {data.checks.map(check => (
              <CheckItem key={`${check.check} ${check.detail}`} check={check} />
            ))}
          </ul>
        </div>
      )}
    </Page>
  )
}

const states = {
  ok: { text: 'works', Icon: CircleCheck, color: 'text-ok' },
  warning: { text: 'warning', Icon: TriangleAlert, color: 'text-warn' },
  broken: { text: 'broken', Icon: CircleX, color: 'text-bad' },
} as const

/**
 * Where a person changes what a check is about. The fix of the service names the command that does the same.
 */
const pages: Record<string, SectionLink> = {
  repositories: { name: 'Repositories', link: linkOptions({ to: '/repositories' }) },
  models: { name: 'Models and keys', link: linkOptions({ to: '/settings/models' }) },
  integrations: { name: 'Integrations', link: linkOptions({ to: '/settings/integrations' }) },
  secrets: { name: 'Secrets', link: linkOptions({ to: '/settings/secrets' }) },
  webhook: { name: 'Webhooks', link: linkOptions({ to: '/settings/webhooks' }) },
}

const PageLink = ({ name, link }: SectionLink) => (
  <>
    open{' '}
    <Link {...link} className="text-accent underline">
      {name}
    </Link>
    , or:{' '}
  </>
)

function CheckItem({ check: { check, state, detail, fix } }: { check: Check }) {
  const { text, Icon, color } = states[state]
  const page = pages[check]
  return (
    <li className="flex items-start gap-3 border-line border-b px-4 py-2.5 last:border-b-0">
      <Icon aria-hidden className={`mt-0.5 size-4 shrink-0 ${color}`} />
      <div className="min-w-0 [overflow-wrap:anywhere]">
        <span className="inline-block font-medium first-letter:uppercase">{visible(check)}</span>{' '}
        <span className={state === 'ok' ? 'sr-only' : color}>{text}</span>
        <p className="text-muted">{visible(detail)}</p>
        {fix !== null && (
          <p className="mt-0.5">
            To fix it: {page && <PageLink {...page} />}
            {visible(fix)}
          </p>
        )}
      </div>
    </li>
  )
}
