import { useQuery } from '@tanstack/react-query'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { diffQuery } from '../../api/queries.ts'
import { PageProblem } from '../../components/page-problem.tsx'
import { DiffFiles } from '../../components/trace/changes/diff-files.tsx'
import { Loading } from '../../ui/notice.tsx'

/** The changes of both runs, beside each other on a wide screen. */
export function ComparedDiffs({ runs }: { runs: [AgentRun, AgentRun] }) {
  return (
    <section aria-label="Changes">
      <h2 className="mb-2 font-semibold">Changes</h2>
      <div className="grid gap-4 lg:grid-cols-2">
        {runs.map((run, index) => (
          // biome-ignore lint/suspicious/noArrayIndexKey: a run may be compared with itself
          <div key={index} className="min-w-0">
            <h3 className="mb-1.5 text-muted text-xs">Run {run.id}</h3>
            <RunDiff run={run} of={`${index}-`} />
          </div>
        ))}
      </div>
    </section>
  )
}

function RunDiff({ run, of }: { run: AgentRun; of: string }) {
  const diff = useQuery(diffQuery(run.id, `${run.branch} ${run.turn} ${run.status}`))
  if (diff.isError) return <PageProblem error={diff.error} retry={() => diff.refetch()} what="change" />
  if (!diff.data) return <Loading label="Loading the change" />
  if (diff.data.files.length === 0) return <p className="text-faint">No files changed</p>
  return <DiffFiles diff={diff.data} of={of} />
}
