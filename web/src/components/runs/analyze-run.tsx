import { useMutation } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { Stethoscope } from 'lucide-react'
import { useState } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { call } from '../../api/client.ts'
import { visible } from '../../text/visible.ts'
import { Button, buttonStyle } from '../../ui/button.tsx'
import { Dialog } from '../../ui/dialog.tsx'
import { IconButton } from '../../ui/icon-button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { LogFindings } from '../entries/log-findings.tsx'
import { useReadOnlyReason } from '../permission.ts'

/** Analyzes why a run failed, after a confirmation, and shows the findings, with a link to the run that explains them. */
export function AnalyzeRun({ run }: { run: AgentRun }) {
  const [open, setOpen] = useState(false)
  const forbidden = useReadOnlyReason()
  const analysis = useMutation({ mutationFn: () => call('analyzeAgentRunLogs', { params: { agent_run_id: run.id } }) })
  const nothing =
    run.source_type === 'LOG_ANALYSIS' ? 'This run is an analysis' : run.started_at === null ? 'The run has not started yet' : null
  const found = analysis.data
  return (
    <>
      <IconButton label="Analyze the logs" reason={forbidden ?? nothing} busy={analysis.isPending} onClick={() => setOpen(true)}>
        <Stethoscope className="size-4" />
      </IconButton>
      <Dialog title={`Analysis of run ${run.id}`} open={open} on_close={() => setOpen(false)}>
        <div className="max-h-[70dvh] space-y-3 overflow-y-auto">
          {!found && (
            <p className="text-muted">
              The analysis searches the logs of this run for causes of failures. It creates a new run that explains them, whose cost counts
              like that of other runs.
            </p>
          )}
          {analysis.error && <Notice tone="bad">{visible(analysis.error.message)}</Notice>}
          {found ? (
            // The dialog closes when a link to an entry is followed.
            // biome-ignore lint/a11y/useKeyWithClickEvents lint/a11y/noStaticElementInteractions: people use the links inside, also by keyboard
            <div className="space-y-3" onClick={event => event.target instanceof HTMLAnchorElement && setOpen(false)}>
              <p>{visible(found.message)}</p>
              <LogFindings analysis={found} open={false} />
              <Link to="/agent/trace/$id" params={{ id: String(found.agent_run_id) }} search={{ view: 'answer' }} className={buttonStyle()}>
                View explanation in run {found.agent_run_id}
              </Link>
            </div>
          ) : (
            <div className="flex justify-end gap-2">
              <Button onClick={() => setOpen(false)}>Cancel</Button>
              <Button variant="primary" busy={analysis.isPending} onClick={() => analysis.mutate()}>
                {analysis.isPending ? 'Analyzing the logs…' : 'Start analysis'}
              </Button>
            </div>
          )}
        </div>
      </Dialog>
    </>
  )
}
