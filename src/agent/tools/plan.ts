import { actionTool } from '../../contract/runs/action-tools.ts'
import type { Tool } from '../tool.ts'

export const plan: Tool<'plan'> = {
  name: actionTool.plan,
  async run(_context, input) {
    const items = input.items.map((item, i) => ({ id: i + 1, text: item.text, state: item.state }))
    return { status: 'ok', output: { status: 'ok' }, observation: { plan: items } }
  },
}
