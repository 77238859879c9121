import { useQuery } from '@tanstack/react-query'
import { FileDiff } from 'lucide-react'
import { useMemo } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { diffQuery } from '../../api/queries.ts'
import { plural } from '../../text/format.ts'
import { filePatches } from '../../trace/patch.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Blank, Loading, Notice } from '../../ui/notice.tsx'
import { PageProblem } from '../page-problem.tsx'
import { RunDiffFile } from './run-diff-file.tsx'

/** Lines of change up to which every file is open from the start. */
const open_lines = 1500

/** The whole change of the run, file by file. */
export default function ChangesPane({ run }: { run: AgentRun }) {
  const head = run.github_pull_requests.at(-1)?.head_sha ?? ''
  const diff = useQuery(diffQuery(run.id, [head, run.branch, run.turn, run.status].join(' ')))
  const files = useMemo(() => (diff.data ? filePatches(diff.data) : []), [diff.data])
  if (diff.isError) return <PageProblem error={diff.error} retry={() => diff.refetch()} what="change" />
  if (!diff.data) return <Loading label="Loading the change" />
  const { files_changed, additions, deletions, patch, patch_truncated } = diff.data
  if (files_changed === 0) {
    return (
      <Blank icon={<FileDiff />} title={run.terminal ? 'No files changed' : 'No change yet'}>
        {run.terminal ? 'There is no branch and no pull request.' : 'The change appears here when the agent has committed.'}
      </Blank>
    )
  }
  return (
    <div className="space-y-3 p-3">
      <div className="flex items-center gap-2 text-muted text-xs">
        <span data-testid="diff-summary" className="tabular">
          {plural(files_changed, 'file')} changed <span className="text-ok">+{additions}</span>{' '}
          <span className="text-bad">−{deletions}</span>
        </span>
        <span className="flex-1" />
        <CopyButton label="Copy as patch" text={() => patch} />
      </div>
      {patch_truncated && <Notice tone="warn">The change is too large to show completely. The branch contains all of it.</Notice>}
      {files.map(({ file, patch: text }) => (
        <RunDiffFile key={`${file.old_path ?? ''} ${file.path}`} file={file} patch={text} open={additions + deletions <= open_lines} />
      ))}
    </div>
  )
}
