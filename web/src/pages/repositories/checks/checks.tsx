import { useQuery } from '@tanstack/react-query'
import { PageTitle } from '../../../components/page.tsx'
import { PageProblem } from '../../../components/page-problem.tsx'
import { Loading } from '../../../ui/notice.tsx'
import { checkCommandsQuery, checkSuiteQuery } from '../repository-queries.ts'
import { useRepository } from '../use-repository.ts'
import { CheckCommands } from './check-commands.tsx'
import { CheckSuiteForm } from './check-suite.tsx'

/** The checks of a repository, and what a run does when one fails. */
export function RepositoryChecks() {
  const { id, full_name } = useRepository()
  const commands = useQuery(checkCommandsQuery(id))
  const suite = useQuery(checkSuiteQuery(id))
  const failed = [commands, suite].find(({ isError }) => isError)
  return (
    <>
      <PageTitle>{`Checks · ${full_name}`}</PageTitle>
      {failed && <PageProblem error={failed.error} retry={() => failed.refetch()} what="list" />}
      {!failed && !(commands.data && suite.data) && <Loading label="Loading the checks" />}
      {!failed && commands.data && suite.data && (
        <div className="max-w-4xl space-y-10">
          <section aria-labelledby="check-commands">
            <h2 id="check-commands" className="font-semibold">
              Commands
            </h2>
            <p className="mt-1 mb-4 max-w-prose text-muted">
              Executed after each push of a run, in a fresh clone of its commit and after the setup commands.
              Exit code 0 passes. Checks of a connected forge are read as well.
            </p>
            <CheckCommands repo_id={id} saved={commands.data} />
          </section>
          <section aria-labelledby="check-suite">
            <h2 id="check-suite" className="font-semibold">
              When a check fails
            </h2>
            <p className="mt-1 mb-4 max-w-prose text-muted">
              The agent gets the failure and tries to fix it, until all checks pass or the attempts are used
              up.
            </p>
            <CheckSuiteForm
              repo_id={id}
              saved={suite.data}
              names={commands.data.checks.map(({ name }) => name)}
            />
          </section>
        </div>
      )}
    </>
  )
}
