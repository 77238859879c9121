import { useQuery } from '@tanstack/react-query'
import { PageTitle } from '../../../components/page.tsx'
import { PageProblem } from '../../../components/page-problem.tsx'
import { Loading } from '../../../ui/notice.tsx'
import { setupQuery } from '../repository-queries.ts'
import { useRepository } from '../use-repository.ts'
import { SetupForm } from './setup-form.tsx'

/** The commands that prepare the sandbox of each run, and runs that try or detect them. */
export function RepositorySetup() {
  const { id, full_name } = useRepository()
  const setup = useQuery(setupQuery(id))
  return (
    <>
      <PageTitle>{`Setup · ${full_name}`}</PageTitle>
      {setup.isPending && <Loading label="Loading the setup commands" />}
      {setup.isError && <PageProblem error={setup.error} retry={() => setup.refetch()} what="list" />}
      {setup.data && <SetupForm repo_id={id} saved={setup.data} />}
    </>
  )
}
