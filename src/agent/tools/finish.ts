import { actionTool } from '../../contract/runs/action-tools.ts'
import { storedText } from '../../core/text/stored-text.ts'
import type { Tool } from '../tool.ts'

export const finish: Tool<'finish'> = {
  name: actionTool.finish,
  async run(_context, input) {
    return { status: 'ok', output: { status: 'finished' }, observation: storedText(input.answer) }
  },
}
