import { useQuery } from '@tanstack/react-query'
import { FileDiff } from 'lucide-react'
import { useMemo, useState } from 'react'
import type { AgentRun } from '../../../../../src/contract/runs/runs.ts'
import { statusOf } from '../../../api/api-error.ts'
import { type DiffRange, diffQuery } from '../../../api/queries.ts'
import { visible } from '../../../text/visible.ts'
import { fileTree } from '../../../trace/changes/file-tree.ts'
import { isRecorded } from '../../../trace/recorded.ts'
import { Select } from '../../../ui/field.tsx'
import { Blank, Loading, Notice } from '../../../ui/notice.tsx'
import { PageProblem } from '../../page-problem.tsx'
import { useReadOnlyReason } from '../../permission.ts'
import { useEntrySeq } from '../use-entry-seq.ts'
import { CommentForm } from './comment-form.tsx'
import { DiffFiles, fileAnchor } from './diff-files.tsx'
import { FileTree } from './file-tree.tsx'
import { useViewedMarks } from './viewed-marks.ts'

/**
 * `run`: all that is committed, or while it is active also what is not. `until` and `only`: by the entry that
 * the address names.
 */
type ShownChange = 'run' | 'until' | 'only'

/** The change of the run or of one of its steps, file by file. */
export default function ChangesPane({ run }: { run: AgentRun }) {
  const [shown, setShown] = useState<ShownChange>('run')
  const seq = useEntrySeq()
  const range = rangeOf(run, seq === 0 ? 'run' : shown, seq)
  const head = run.github_pull_requests.at(-1)?.head_sha ?? ''
  // While the run is active its files change with its entries, at most every few seconds.
  const state = [
    head,
    run.branch,
    run.turn,
    run.status,
    range.from_seq === 0 && run.terminal ? run.total_logs : '',
  ].join(' ')
  const diff = useQuery({ ...diffQuery(run.id, state, range), refetchInterval: run.terminal ? false : 5_000 })
  // The files of the entry are not kept, or not yet.
  const missing = diff.isError && statusOf(diff.error) === 409
  const viewed = useViewedMarks(run.id)
  const can_comment = useReadOnlyReason() === null && !isRecorded(run)
  const nodes = useMemo(() => fileTree(diff.data?.files ?? []), [diff.data])
  return (
    <div className="space-y-3 p-3">
      {seq > 0 && <RangeSelect seq={seq} shown={shown} on_change={setShown} />}
      {missing && shown !== 'run' && <Notice>{visible(diff.error?.message ?? '')}</Notice>}
      {missing && shown === 'run' && <NothingChanged run={run} step={false} />}
      {diff.isError && !missing && (
        <PageProblem error={diff.error} retry={() => diff.refetch()} what="change" />
      )}
      {diff.isPending && <Loading label="Loading the change" />}
      {diff.isSuccess && diff.data.files_changed === 0 && (
        <NothingChanged run={run} step={range.to_seq !== undefined} />
      )}
      {diff.isSuccess && diff.data.files_changed > 1 && (
        <details
          open={diff.data.files_changed <= 12}
          className="rounded-lg border border-line bg-surface px-2 py-1"
        >
          <summary className="min-h-6 cursor-pointer text-muted text-xs leading-6">Files</summary>
          <FileTree
            nodes={nodes}
            on_file={index => document.getElementById(fileAnchor(index))?.scrollIntoView({ block: 'start' })}
          />
        </details>
      )}
      {diff.isSuccess && diff.data.files_changed > 0 && (
        <DiffFiles
          diff={diff.data}
          viewed={viewed}
          {...(can_comment && {
            comment_form: (target, on_close) => (
              <CommentForm agent_run_id={run.id} target={target} on_close={on_close} />
            ),
          })}
        />
      )}
    </div>
  )
}

type RangeProps = { seq: number; shown: ShownChange; on_change: (shown: ShownChange) => void }

const RangeSelect = ({ seq, shown, on_change }: RangeProps) => (
  <div className="flex items-center gap-2 text-muted text-xs">
    Show
    <Select
      aria-label="Steps whose changes are shown"
      className="h-7! w-auto! text-xs!"
      value={shown}
      onChange={event =>
        on_change(
          event.target.value === 'until' || event.target.value === 'only' ? event.target.value : 'run',
        )
      }
    >
      <option value="run">the whole run</option>
      <option value="until">everything up to entry {seq}</option>
      <option value="only">only the step of entry {seq}</option>
    </Select>
  </div>
)

/** Without a branch nothing is committed: what the workspace has is shown, also of a run that failed. */
function rangeOf(run: AgentRun, shown: ShownChange, seq: number): DiffRange {
  if (shown === 'only') return { from_seq: seq - 1, to_seq: seq }
  if (shown === 'until') return { from_seq: 0, to_seq: seq }
  const committed = run.terminal && run.branch !== null
  return committed || run.started_at === null || run.repo_id === null ? {} : { from_seq: 0 }
}

function NothingChanged({ run, step }: { run: AgentRun; step: boolean }) {
  if (step) return <Blank icon={<FileDiff />} title="No files changed up to here" />
  return (
    <Blank icon={<FileDiff />} title={run.terminal ? 'No files changed' : 'No change yet'}>
      {run.terminal
        ? 'There is no branch and no pull request.'
        : 'The change appears here as the agent works.'}
    </Blank>
  )
}
