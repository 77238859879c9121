import { useQuery, useQueryClient } from '@tanstack/react-query'
import { call } from '../../api/client.ts'
import { egressQuery, organizationEgressQuery } from '../../api/queries.ts'
import { EgressSettings } from '../../components/egress/egress-settings.tsx'
import type { Egress } from '../../components/egress/egress-target.ts'
import { PageTitle } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { useRepositoryReason } from '../../components/permission.ts'
import { Loading } from '../../ui/notice.tsx'
import { useRepository } from './use-repository.ts'

/** The hosts that commands of the repository's runs may reach. */
export function RepositoryNetwork() {
  const { id, full_name } = useRepository()
  const queries = useQueryClient()
  const forbidden = useRepositoryReason()
  const own = useQuery(egressQuery(id))
  const organization = useQuery(organizationEgressQuery)
  const failed = [own, organization].find(({ isError }) => isError)
  const params = { repo_id: id }
  const store = (egress: Egress) => queries.setQueryData(egressQuery(id).queryKey, egress)
  return (
    <>
      <PageTitle>{`Network · ${full_name}`}</PageTitle>
      {failed && <PageProblem error={failed.error} retry={() => failed.refetch()} what="list" />}
      {!failed && !(own.data && organization.data) && <Loading label="Loading the network rules" />}
      {!failed && own.data && organization.data && (
        <EgressSettings
          target={{
            saved: own.data,
            inherited: organization.data,
            forbidden,
            set: async body => store(await call('setRepositoryEgress', { params, body })),
            allow: async body => store(await call('allowRepositoryEgress', { params, body })),
          }}
        />
      )}
    </>
  )
}
