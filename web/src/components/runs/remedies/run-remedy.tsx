import { Link, useNavigate } from '@tanstack/react-router'
import type { ReactNode } from 'react'
import type { AgentRun } from '../../../../../src/contract/runs/runs.ts'
import { completionText } from '../../../api/names.ts'
import { visible } from '../../../text/visible.ts'
import { oneLine } from '../../../trace/entry-summary.ts'
import { Button, buttonStyle } from '../../../ui/button.tsx'
import { useMedia } from '../../../ui/media.ts'
import { useReadOnlyReason } from '../../permission.ts'
import ForkEntry from '../../trace/fork-entry.tsx'
import { APPROVE_ID, FOLLOW_UP_ID } from '../follow-up-draft.ts'
import { useRunActions } from '../run-actions.ts'
import { useLatestEntry } from '../use-latest-entry.ts'
import { type Remedy, remedyOf } from './remedy.ts'

/**
 * What continues a run that waits or failed: buttons beside its title, which do not move the page when they
 * come and go. On a phone a row of its own, which also names the reason. A reader sees no buttons.
 */
export default function RunRemedy({ run, row }: { run: AgentRun; row: boolean }): ReactNode {
  const remedy = remedyOf(run)
  const may_continue = useReadOnlyReason() === null
  if (remedy === null || !(may_continue || row)) return null
  const buttons = may_continue && (
    <>
      {run.status === 'failed' && <ForkBeforeError run={run} />}
      <RemedyButton run={run} remedy={remedy} />
    </>
  )
  if (!row) {
    return (
      <section aria-label="What to do next" className="flex shrink-0 items-center gap-2">
        {buttons}
      </section>
    )
  }
  const failed = run.status === 'failed'
  return (
    <section
      aria-label="What to do next"
      className={`mt-1.5 flex flex-wrap items-center justify-end gap-2 rounded-md border p-1.5 text-xs ${failed ? 'border-bad/40 bg-bad/8' : 'border-warn/40 bg-warn/8'}`}
    >
      <p className="line-clamp-3 min-w-0 basis-full [overflow-wrap:anywhere]">
        {run.error === null ? reasonOf(run, remedy) : oneLine(run.error.message)}
      </p>
      {buttons}
    </section>
  )
}

function reasonOf(run: AgentRun, { kind }: Remedy): string {
  const { checks } = run
  const incomplete = completionText(run)
  if (kind === 'approve')
    return 'The agent waits for your approval of a call, or of a change to the CI configuration before it is pushed.'
  if (kind === 'reply') return 'The agent waits for your answer.'
  if (incomplete !== null) return incomplete
  return checks?.state === 'failure'
    ? 'Checks of the pull request fail.'
    : 'The run can continue where it stopped.'
}

function RemedyButton({ run, remedy }: { run: AgentRun; remedy: Remedy }) {
  const { resume } = useRunActions(run)
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
      <Button variant="primary" onClick={() => focus(remedy.kind === 'approve' ? APPROVE_ID : FOLLOW_UP_ID)}>
        {remedy.label}
      </Button>
    )
  }
  const { prompt, budget } = remedy
  return (
    <>
      {resume.isError && (
        <span role="alert" className="max-w-80 text-bad text-xs">
          {visible(resume.error.message)}
        </span>
      )}
      <Button
        variant="primary"
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
    if (!wide)
      await navigate({ search: previous => ({ ...previous, view: 'log' }), hash: true, replace: true })
    requestAnimationFrame(() => focusOnceShown(id))
  }
}

/** Frames for which a control that is still being loaded is awaited. */
const MAX_FRAMES = 600

function focusOnceShown(id: string, frames = MAX_FRAMES): void {
  const control = document.getElementById(id)
  if (control !== null) control.focus()
  else if (frames > 0) requestAnimationFrame(() => focusOnceShown(id, frames - 1))
}

/** Forks before the step that ended the run. The entry of a failed tool call precedes its error. */
function ForkBeforeError({ run }: { run: AgentRun }) {
  const error = useLatestEntry(run, { message_type: 'ERROR' }, true)
  if (error === null) return null
  const seq = Math.max(1, error.seq - (error.tool_name === null ? 1 : 2))
  return <ForkEntry agent_run_id={run.id} seq={seq} label="Fork before this error" />
}
