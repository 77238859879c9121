import { useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import { organizationEgressQuery } from '../../api/queries.ts'
import { EgressSettings } from '../../components/egress/egress-settings.tsx'
import { type Egress, keyOf } from '../../components/egress/egress-target.ts'
import { useAdminReason } from '../../components/permission.ts'
import { QueryPage } from '../../components/resource-page.tsx'

/** The hosts that commands of all runs may reach. */
export function NetworkPage() {
  const queries = useQueryClient()
  const forbidden = useAdminReason('network rules')
  const set = async (body: Egress) =>
    queries.setQueryData(organizationEgressQuery.queryKey, await call('setEgress', { body }))
  return (
    <QueryPage
      query={organizationEgressQuery}
      what="list"
      heading="Network"
      about="What the runs of every repository may reach. A repository can choose other modes, and adds hosts of its own to these."
      loading="Loading the network rules"
    >
      {saved => (
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
    </QueryPage>
  )
}
