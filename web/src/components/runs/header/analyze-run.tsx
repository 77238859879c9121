import type { AgentRun } from '../../../../../src/contract/runs/runs.ts'
import { call } from '../../../api/client.ts'
import { AnalysisDialog } from '../../analysis-dialog.tsx'

type Props = { run: AgentRun; open: boolean; on_close: () => void }

/** Analyzes why a run failed, after a confirmation. */
export const AnalyzeRun = ({ run, open, on_close }: Props) => (
  <AnalysisDialog
    title={`Analysis of run ${run.id}`}
    about="The analysis searches the logs of this run for causes of failures."
    analyze={() => call('analyzeAgentRunLogs', { params: { agent_run_id: run.id } })}
    open={open}
    on_close={on_close}
  />
)
