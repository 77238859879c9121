import { actionTool } from '../../contract/runs/action-tools.ts'
import { storedText } from '../../core/text/stored-text.ts'
import type { Tool } from '../tool.ts'

export const ask: Tool<'ask'> = {
  name: actionTool.ask,
  async run(_context, input) {
    return {
      status: 'ok',
      output: { status: 'ok', note: 'The answer follows as the next message.' },
      observation: storedText(input.question),
    }
  },
}
