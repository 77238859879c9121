import { useQuery } from '@tanstack/react-query'
import { useState } from 'react'
import { PageTitle } from '../../../components/page.tsx'
import { PageProblem } from '../../../components/page-problem.tsx'
import { Loading } from '../../../ui/notice.tsx'
import { setupQuery } from '../repository-queries.ts'
import { useRepository } from '../use-repository.ts'
import type { SetupDraft } from './setup-draft.ts'
import { SetupForm } from './setup-form.tsx'
import { SetupTrial } from './setup-trial.tsx'

/** The commands that prepare the sandbox of each run, and runs that try or detect them. */
export function RepositorySetup() {
  const { id, full_name } = useRepository()
  const setup = useQuery(setupQuery(id))
  const [touched, setTouched] = useState<Partial<SetupDraft>>({})
  return (
    <>
      <PageTitle>{`Setup · ${full_name}`}</PageTitle>
      {setup.isPending && <Loading label="Loading the setup commands" />}
      {setup.isError && <PageProblem error={setup.error} retry={() => setup.refetch()} what="list" />}
      {setup.data && (
        <div className="grid gap-x-10 gap-y-8 lg:grid-cols-2">
          <SetupForm repo_id={id} saved={setup.data} touched={touched} on_touch={setTouched} />
          <SetupTrial
            has_commands={setup.data.commands.length > 0}
            changed={Object.keys(touched).length > 0}
          />
        </div>
      )}
    </>
  )
}
