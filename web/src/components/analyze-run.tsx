import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Stethoscope } from 'lucide-react'
import { useState } from 'react'
import type { AgentRun } from '../../../src/contract/runs/runs.ts'
import { call } from '../api/client.ts'
import { visible } from '../text/visible.ts'
import { buttonLook } from '../ui/button.tsx'
import { Dialog } from '../ui/dialog.tsx'
import { IconButton } from '../ui/icon-button.tsx'
import { LogFindings } from './entries/log-findings.tsx'
import { useReadOnlyReason } from './permission.ts'

/** Looks at once why a run failed, and shows it; the run that has it explained is one click away. */
export function AnalyzeRun({ run }: { run: AgentRun }) {
  const [open, setOpen] = useState(false)
  const forbidden = useReadOnlyReason()
  const analysis = useMutation({ mutationFn: () => call('analyzeAgentRunLogs', { params: { agent_run_id: run.id } }) })
  const nothing =
    run.source_type === 'LOG_ANALYSIS' ? 'This run is an analysis itself' : run.started_at === null ? 'Nothing has happened yet' : null
  const found = analysis.data
  return (
    <>
      <IconButton
        label="Analyze the logs"
        reason={forbidden ?? nothing}
        busy={analysis.isPending}
        onClick={() => {
          setOpen(true)
          analysis.mutate()
        }}
      >
        <Stethoscope className="size-4" />
      </IconButton>
      <Dialog title={`Analysis of run ${run.id}`} open={open} on_close={() => setOpen(false)}>
        <div className="max-h-[70dvh] space-y-3 overflow-y-auto">
          {analysis.isPending && <p className="text-muted">Looking at the logs…</p>}
          {analysis.error && (
            <p role="alert" className="text-bad">
              {visible(analysis.error.message)}
            </p>
          )}
          {found && (
            // Whoever follows a link to an entry wants to see it.
            // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: the links inside are what is used, by keys too
            <div className="space-y-3" onClick={event => event.target instanceof HTMLAnchorElement && setOpen(false)}>
              <p>{visible(found.message)}</p>
              <LogFindings analysis={found} open={false} />
              <Link to="/agent/trace/$id" params={{ id: String(found.agent_run_id) }} search={{ view: 'answer' }} className={buttonLook()}>
                Explained in run {found.agent_run_id}
              </Link>
            </div>
          )}
        </div>
      </Dialog>
    </>
  )
}
