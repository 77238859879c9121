import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Package } from 'lucide-react'
import { call } from '../../api/client.ts'
import { environmentsQuery } from '../../api/queries.ts'
import { useRequest } from '../../components/form/use-request.ts'
import { PageTitle } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { useRepositoryReason } from '../../components/permission.ts'
import { EnvironmentList } from '../../components/runs/environment-list.tsx'
import { plural } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Button } from '../../ui/button.tsx'
import { Blank, Loading, Notice } from '../../ui/notice.tsx'
import { useRepository } from './use-repository.ts'

/** The prepared environments that runs of the repository reuse. */
export function RepositoryEnvironment() {
  const { id, full_name } = useRepository()
  const environments = useQuery(environmentsQuery(id))
  return (
    <>
      <PageTitle>{`Environment · ${full_name}`}</PageTitle>
      {environments.isPending && <Loading label="Loading the environments" />}
      {environments.isError && (
        <PageProblem error={environments.error} retry={() => environments.refetch()} what="list" />
      )}
      {environments.data?.items.length === 0 && (
        <Blank icon={<Package />} title="No environment is stored">
          The first run that executes the{' '}
          <Link
            to="/repositories/$repoId/setup"
            params={{ repoId: String(id) }}
            className="text-accent underline"
          >
            setup commands
          </Link>{' '}
          stores what they installed. Later runs reuse it and start faster.
        </Blank>
      )}
      {environments.data && environments.data.items.length > 0 && <RebuildAll repo_id={id} />}
      <EnvironmentList repo_id={id} used={null} />
    </>
  )
}

/** Discards all environments, so that the next run prepares a new one. */
function RebuildAll({ repo_id }: { repo_id: number }) {
  const forbidden = useRepositoryReason()
  const drop = useRequest(() => call('dropEnvironments', { params: { repo_id } }), {
    done: ({ dropped }) => `Discarded ${plural(dropped, 'environment')}`,
    settled: [environmentsQuery(repo_id)],
  })
  return (
    <div className="space-y-3">
      <div className="flex flex-wrap items-center gap-x-4 gap-y-2">
        <p className="min-w-0 flex-1 text-muted">
          What the setup commands installed, stored on a worker. A run reuses it while commands, secrets and
          lockfiles are the same.
        </p>
        <Button reason={forbidden} busy={drop.isPending} onClick={() => drop.mutate()}>
          Rebuild all
        </Button>
      </div>
      {drop.error && <Notice tone="bad">{visible(drop.error.message)}</Notice>}
    </div>
  )
}
