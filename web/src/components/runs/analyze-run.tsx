import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Stethoscope } from 'lucide-react'
import { useState } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { call } from '../../api/client.ts'
import { visible } from '../../text/visible.ts'
import { buttonStyle } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { IconButton } from '../../ui/icon-button.tsx'
import { LogFindings } from '../entries/log-findings.tsx'
import { useReadOnlyReason } from '../permission.ts'

/** Analyzes why a run failed and shows the findings, with a link to the run that explains them. */
export function AnalyzeRun({ run }: { run: AgentRun }) {
  const [open, setOpen] = useState(false)
  const forbidden = useReadOnlyReason()
  const analysis = useMutation({ mutationFn: () => call('analyzeAgentRunLogs', { params: { agent_run_id: run.id } }) })
  const nothing =
    run.source_type === 'LOG_ANALYSIS' ? 'This run is an analysis' : run.started_at === null ? 'The run has not started yet' : null
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
          {analysis.isPending && <p className="text-muted">Analyzing the logs…</p>}
          {analysis.error && (
            <p role="alert" className="text-bad">
              {visible(analysis.error.message)}
            </p>
          )}
          {found && (
            // The dialog closes when a link to an entry is followed.
            // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: people use the links inside, also by keyboard
            <div className="space-y-3" onClick={event => event.target instanceof HTMLAnchorElement && setOpen(false)}>
              <p>{visible(found.message)}</p>
              <LogFindings analysis={found} open={false} />
              <Link to="/agent/trace/$id" params={{ id: String(found.agent_run_id) }} search={{ view: 'answer' }} className={buttonStyle()}>
                View explanation in run {found.agent_run_id}
              </Link>
            </div>
          )}
        </div>
      </Dialog>
    </>
  )
}
