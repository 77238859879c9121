import { Stethoscope } from 'lucide-react'
import { useState } from 'react'
import type { AgentRun } from '../../../../../src/contract/runs/runs.ts'
import { call } from '../../../api/client.ts'
import { IconButton } from '../../../ui/icon-button.tsx'
import { AnalysisDialog } from '../../analysis-dialog.tsx'
import { useReadOnlyReason } from '../../permission.ts'

/** Analyzes why a run failed, after a confirmation. */
export function AnalyzeRun({ run }: { run: AgentRun }) {
  const [open, setOpen] = useState(false)
  const forbidden = useReadOnlyReason()
  const nothing =
    run.source_type === 'LOG_ANALYSIS' ? 'This run is an analysis' : run.started_at === null ? 'The run has not started yet' : null
  return (
    <>
      <IconButton label="Analyze the logs" reason={forbidden ?? nothing} onClick={() => setOpen(true)}>
        <Stethoscope className="size-4" />
      </IconButton>
      <AnalysisDialog
        title={`Analysis of run ${run.id}`}
        about="The analysis searches the logs of this run for causes of failures."
        analyze={() => call('analyzeAgentRunLogs', { params: { agent_run_id: run.id } })}
        open={open}
        on_close={() => setOpen(false)}
      />
    </>
  )
}
