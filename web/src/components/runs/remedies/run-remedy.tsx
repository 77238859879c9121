import { Link, useNavigate } from '@tanstack/react-router'
import { TriangleAlert } from 'lucide-react'
import type { AgentRun } from '../../../../../src/contract/runs/runs.ts'
import { visible } from '../../../text/visible.ts'
import { oneLine } from '../../../trace/entry-summary.ts'
import { Button, buttonStyle } from '../../../ui/button.tsx'
import { useMedia } from '../../../ui/media.ts'
import { useReadOnlyReason } from '../../permission.ts'
import { ForkEntry } from '../../trace/fork-entry.tsx'
import { APPROVE_ID } from '../approval-question.tsx'
import { FOLLOW_UP_ID } from '../follow-up.tsx'
import { useRunActions } from '../run-actions.ts'
import { useLatestEntry } from '../use-latest-entry.ts'
import { type Remedy, remedyOf } from './remedy.ts'

/** Why a run waits or failed, and what continues it. */
export default function RunRemedy({ run }: { run: AgentRun }) {
  const remedy = remedyOf(run)
  if (remedy === null) return null
  const why = run.error === null ? null : oneLine(run.error.message)
  const tone = run.status === 'failed' ? 'border-bad/40 bg-bad/8' : 'border-warn/40 bg-warn/8'
  return (
    <section
      aria-label="What to do next"
      className={`mt-1.5 flex flex-wrap items-center gap-x-3 gap-y-1 rounded-md border py-1 pr-1 pl-2.5 text-xs ${tone}`}
    >
      {why !== null && (
        <span className="flex min-w-0 basis-48 grow items-center gap-1.5" title={visible(run.error?.message ?? '')}>
          <TriangleAlert aria-hidden className={`size-3.5 shrink-0 ${run.status === 'failed' ? 'text-bad' : 'text-warn'}`} />
          <span className="line-clamp-2 [overflow-wrap:anywhere]">{why}</span>
        </span>
      )}
      {why === null && <span className="grow text-muted">{reasonOf(run, remedy)}</span>}
      {run.status === 'failed' && <ForkBeforeError run={run} />}
      <RemedyButton run={run} remedy={remedy} />
    </section>
  )
}

function reasonOf({ waiting_on }: AgentRun, { kind }: Remedy): string {
  if (kind === 'approve') return 'The agent changed files of CI: nothing is pushed until you approve them.'
  if (kind === 'reply')
    return waiting_on === 'plan_approval' ? 'The agent waits for your view of its plan.' : 'The agent waits for your answer.'
  return waiting_on === null ? 'The run can continue where it stopped.' : ''
}

function RemedyButton({ run, remedy }: { run: AgentRun; remedy: Remedy }) {
  const { resume } = useRunActions(run)
  const forbidden = useReadOnlyReason()
  const focus = useFocusFollowUp()
  if (remedy.kind === 'settings') {
    return (
      <Link to="/settings" className={buttonStyle()}>
        {remedy.label}
      </Link>
    )
  }
  if (remedy.kind !== 'resume') {
    return (
      <Button variant="primary" reason={forbidden} onClick={() => focus(remedy.kind === 'approve' ? APPROVE_ID : FOLLOW_UP_ID)}>
        {remedy.label}
      </Button>
    )
  }
  const { prompt, budget } = remedy
  return (
    <>
      {resume.isError && (
        <span role="alert" className="text-bad">
          {visible(resume.error.message)}
        </span>
      )}
      <Button
        variant="primary"
        reason={forbidden}
        busy={resume.isPending}
        onClick={() => resume.mutate({ prompt, ...(budget && { budget }) })}
      >
        {remedy.label}
      </Button>
    </>
  )
}

/** Focuses a control of the follow-up box, which is below the log: on a narrow screen that is a tab. */
function useFocusFollowUp() {
  const navigate = useNavigate({ from: '/agent/trace/$id' })
  const wide = useMedia('(min-width: 72rem)')
  return async (id: string) => {
    if (!wide) await navigate({ search: previous => ({ ...previous, view: 'log' }), hash: true, replace: true })
    requestAnimationFrame(() => document.getElementById(id)?.focus())
  }
}

/** Forks before the step that ended the run. The entry of a failed tool call precedes its error. */
function ForkBeforeError({ run }: { run: AgentRun }) {
  const error = useLatestEntry(run, { message_type: 'ERROR' }, true)
  if (error === null) return null
  const seq = Math.max(1, error.seq - (error.tool_name === null ? 1 : 2))
  return <ForkEntry agent_run_id={run.id} seq={seq} label="Fork before this error" />
}
