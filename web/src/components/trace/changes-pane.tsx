import { useQuery } from '@tanstack/react-query'
import { FileDiff } from 'lucide-react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { diffQuery } from '../../api/queries.ts'
import { Blank, Loading } from '../../ui/notice.tsx'
import { PageProblem } from '../page-problem.tsx'
import { DiffFiles } from './diff-files.tsx'

/** The whole change of the run, file by file. */
export default function ChangesPane({ run }: { run: AgentRun }) {
  const head = run.github_pull_requests.at(-1)?.head_sha ?? ''
  const diff = useQuery(diffQuery(run.id, [head, run.branch, run.turn, run.status].join(' ')))
  if (diff.isError) return <PageProblem error={diff.error} retry={() => diff.refetch()} what="change" />
  if (!diff.data) return <Loading label="Loading the change" />
  if (diff.data.files_changed === 0) {
    return (
      <Blank icon={<FileDiff />} title={run.terminal ? 'No files changed' : 'No change yet'}>
        {run.terminal ? 'There is no branch and no pull request.' : 'The change appears here when the agent has committed.'}
      </Blank>
    )
  }
  return (
    <div className="p-3">
      <DiffFiles diff={diff.data} />
    </div>
  )
}
