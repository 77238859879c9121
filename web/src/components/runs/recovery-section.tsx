import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { RunRecovery } from '../../../../src/contract/runs/recovery.ts'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { recoveryQuery } from '../../api/queries.ts'
import { duration, moment, plural } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { toolLabel } from '../../trace/tool-label.ts'
import { Notice } from '../../ui/notice.tsx'

type Recovery = RunRecovery['recoveries'][number]

const workspaces: Record<NonNullable<Recovery['workspace']>['how'], string> = {
  adopted: 'Its files still existed.',
  restored: 'Its files were restored from a checkpoint.',
  fresh: 'Its files were checked out again, because no checkpoint was available.',
}

const SECTION_ID = 'recovery'

/**
 * One line about lost workers, with a link to the report. Nothing when a worker shut down and each call is
 * known.
 */
export function RecoveryNote({ run }: { run: AgentRun }) {
  // A recovery changes the status.
  const { data } = useQuery({ ...recoveryQuery(run.id, `${run.status} ${run.turn}`), staleTime: 0 })
  const recoveries = data?.recoveries ?? []
  const lost = recoveries.some(({ cause }) => cause === 'lease_lost')
  const unknown = recoveries.reduce((sum, { interrupted }) => sum + interrupted.length, 0)
  if (!lost && unknown === 0) return null
  return (
    <Notice tone="warn">
      Continued after a {lost ? 'lost worker' : 'worker shut down'}
      {unknown > 0 && `; ${plural(unknown, 'call')} may or may not have completed`}.{' '}
      <Link
        from="/agent/trace/$id"
        to="."
        search={previous => ({ ...previous, view: 'config' as const })}
        hash={SECTION_ID}
        replace
        className="text-accent hover:underline"
      >
        Recovery report
      </Link>
    </Notice>
  )
}

/** Shows the report that the link of the note leads to. */
const scrollToIfNamed = (section: HTMLElement | null) => {
  if (location.hash === `#${SECTION_ID}`) section?.scrollIntoView()
}

/**
 * How often another worker continued the run, and what became of the calls that were in progress. Nothing
 * while there was no interruption.
 */
export function RecoverySection({ run }: { run: AgentRun }) {
  const { data } = useQuery(recoveryQuery(run.id, `${run.status} ${run.total_logs}`))
  if (data === undefined || (data.recoveries.length === 0 && data.counts.interrupted === 0)) return null
  const { committed, reissued, interrupted } = data.counts
  return (
    <section
      ref={scrollToIfNamed}
      id={SECTION_ID}
      aria-label="Recovery"
      className="border-line border-t p-4 text-xs"
    >
      <h3 className="text-muted">Recovery</h3>
      <p className="mt-1">
        {plural(committed, 'step')} committed, {plural(reissued, 'model call')} repeated,{' '}
        {plural(interrupted, 'tool call')} interrupted.
      </p>
      <ol className="mt-2 space-y-2">
        {data.recoveries.map(recovery => (
          <li key={recovery.epoch} className="rounded-md border border-line px-2.5 py-1.5">
            <RecoveryItem recovery={recovery} />
          </li>
        ))}
      </ol>
    </section>
  )
}

function RecoveryItem({ recovery }: { recovery: Recovery }) {
  const { cause, lost_at, recovered_at, after_seq, model_call_reissued, interrupted, workspace } = recovery
  const gap = Math.max(0, Date.parse(recovered_at) - Date.parse(lost_at))
  return (
    <>
      <p>
        {cause === 'lease_lost' ? 'The worker or its sandbox was lost' : 'The worker shut down'} after entry{' '}
        {after_seq}; another one continued after {duration(gap)}.
      </p>
      <p className="text-faint">{moment(recovered_at)}</p>
      {model_call_reissued && <p>A model call that was in progress is repeated.</p>}
      {interrupted.map(({ call_id, tool_name }) => (
        <p key={call_id} className="text-warn">
          {visible(toolLabel(tool_name, false))} may or may not have completed. It is not repeated, and the
          agent is informed.
        </p>
      ))}
      {workspace && (
        <p>
          {workspaces[workspace.how]}{' '}
          {workspace.up_to_date
            ? 'They are complete, except ignored files.'
            : 'They are older than the last step.'}
        </p>
      )}
    </>
  )
}
