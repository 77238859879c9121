import { useQuery } from '@tanstack/react-query'
import { egressQuery } from '../../../api/queries.ts'
import { AllowHost } from '../../../components/egress/allow-host.tsx'
import { EgressForm } from '../../../components/egress/egress-form.tsx'
import { HostTable } from '../../../components/egress/host-table.tsx'
import { PageTitle } from '../../../components/page.tsx'
import { PageProblem } from '../../../components/page-problem.tsx'
import { useRepositoryReason } from '../../../components/permission.ts'
import { Loading } from '../../../ui/notice.tsx'
import { organizationEgressQuery } from '../repository-queries.ts'
import { useRepository } from '../use-repository.ts'

/** The hosts that commands of the repository's runs may reach. */
export function RepositoryNetwork() {
  const { id, full_name } = useRepository()
  const forbidden = useRepositoryReason()
  const own = useQuery(egressQuery(id))
  const organization = useQuery(organizationEgressQuery)
  const failed = [own, organization].find(({ isError }) => isError)
  return (
    <>
      <PageTitle>{`Network · ${full_name}`}</PageTitle>
      {failed && <PageProblem error={failed.error} retry={() => failed.refetch()} what="list" />}
      {!failed && !(own.data && organization.data) && <Loading label="Loading the network rules" />}
      {!failed && own.data && organization.data && (
        <div className="max-w-4xl space-y-10">
          <section aria-labelledby="network-access">
            <h2 id="network-access" className="mb-4 font-semibold">
              Access
            </h2>
            <EgressForm repo_id={id} saved={own.data} organization={organization.data} />
          </section>
          <section aria-labelledby="network-hosts" className="space-y-4">
            <div>
              <h2 id="network-hosts" className="font-semibold">
                Allowed hosts
              </h2>
              <p className="mt-1 max-w-prose text-muted">
                Active runs apply a change within seconds. A request that was refused is an entry of the trace, which also offers to allow
                its host.
              </p>
            </div>
            <HostTable repo_id={id} own={own.data} organization={organization.data} />
            {forbidden === null && <AllowHost repo_id={id} off={(own.data.agent.mode ?? organization.data.agent.mode) !== 'allowlist'} />}
          </section>
        </div>
      )}
    </>
  )
}
