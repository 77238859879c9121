import { useQuery } from '@tanstack/react-query'
import { Package } from 'lucide-react'
import { environmentsQuery } from '../../api/queries.ts'
import { PageTitle } from '../../components/page.tsx'
import { PageProblem } from '../../components/page-problem.tsx'
import { EnvironmentList } from '../../components/runs/environment-list.tsx'
import { Blank, Loading } from '../../ui/notice.tsx'
import { useRepository } from './use-repository.ts'

/** The prepared environments that runs of the repository reuse. */
export function RepositoryEnvironment() {
  const { id, full_name } = useRepository()
  const environments = useQuery(environmentsQuery(id))
  return (
    <>
      <PageTitle>{`Environment · ${full_name}`}</PageTitle>
      {environments.isPending && <Loading label="Loading the environments" />}
      {environments.isError && <PageProblem error={environments.error} retry={() => environments.refetch()} what="list" />}
      {environments.data?.items.length === 0 && (
        <Blank icon={<Package />} title="No environment is stored">
          The first run that executes setup commands stores what they installed. Later runs reuse it and start faster.
        </Blank>
      )}
      <EnvironmentList repo_id={id} used={null} />
    </>
  )
}
