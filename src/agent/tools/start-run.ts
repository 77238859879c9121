import { actionTool } from '../../contract/runs/action-tools.ts'
import type { Tool } from '../tool.ts'

export const start_run: Tool<'start_run'> = {
  name: actionTool.start_run,
  async run({ runs, call_id }, input) {
    const { agent_run_id, title, status, max_cost_usd, web_url } = await runs.start(call_id, input)
    return {
      status: 'ok',
      output: { status: 'ok', run: { agent_run_id, title, status, max_cost_usd, web_url } },
    }
  },
}
