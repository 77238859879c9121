import { actionTool } from '../../contract/runs/action-tools.ts'
import { truncateText } from '../../core/text/truncate.ts'
import { failed, interrupted, type Tool } from '../tool.ts'

const RESULT_CHARS = 8_000

export const get_run: Tool<'get_run'> = {
  name: actionTool.get_run,
  async run({ runs, signal }, { agent_run_id = null, wait_seconds = 0 }) {
    const all = await runs.awaitRuns(agent_run_id, wait_seconds, signal)
    if (signal.aborted) return interrupted()
    const requested = agent_run_id === null ? all : all.filter(run => run.agent_run_id === agent_run_id)
    if (agent_run_id !== null && requested.length === 0)
      return failed(
        'unknown_run',
        `This run has started no run ${agent_run_id}. Its runs are: ${listed(all.map(run => run.agent_run_id))}.`,
      )
    return {
      status: 'ok',
      output: {
        status: 'ok',
        runs: requested.map(run => ({ ...run, result: truncateText(run.result, RESULT_CHARS).text })),
      },
    }
  },
}

const listed = (ids: number[]) => (ids.length === 0 ? 'none' : ids.join(', '))
