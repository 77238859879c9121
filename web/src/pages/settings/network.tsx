import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import { organizationEgressQuery } from '../../api/queries.ts'
import { EgressSettings } from '../../components/egress/egress-settings.tsx'
import { type Egress, keyOf } from '../../components/egress/egress-target.ts'
import { Page } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { useAdminReason } from '../../components/permission.ts'
import { Loading } from '../../ui/notice.tsx'

/** The hosts that commands of all runs may reach. */
export function NetworkPage() {
  const queries = useQueryClient()
  const forbidden = useAdminReason('network rules')
  const egress = useQuery(organizationEgressQuery)
  if (egress.isError) return <PageProblem error={egress.error} retry={() => egress.refetch()} what="list" />
  const saved = egress.data
  const set = async (body: Egress) =>
    queries.setQueryData(organizationEgressQuery.queryKey, await call('setEgress', { body }))
  return (
    <Page
      heading="Network"
      about="What the runs of every repository may reach. A repository can choose other modes, and adds hosts of its own to these."
    >
      {!saved && <Loading label="Loading the network rules" />}
      {saved && (
        <EgressSettings
          target={{
            saved,
            inherited: null,
            forbidden,
            set,
            allow: rule => {
              const others = saved.agent.allow.filter(other => keyOf(other) !== keyOf(rule))
              return set({ ...saved, agent: { ...saved.agent, allow: [...others, rule] } })
            },
          }}
        />
      )}
    </Page>
  )
}
