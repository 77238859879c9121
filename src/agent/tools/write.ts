import { actionTool } from '../../contract/runs/action-tools.ts'
import type { Tool } from '../tool.ts'
import { placeholderWritten, writeText } from './files.ts'

export const write: Tool<'write'> = {
  name: actionTool.write,
  async run(context, input) {
    const refused = placeholderWritten(context, input.path, input.content)
    if (refused !== null) return refused
    const written = await writeText(await context.sandbox(), context, input.path, input.content)
    if ('outcome' in written) return written.outcome
    return { status: 'ok', output: { status: 'ok', path: input.path, bytes: written.value } }
  },
}
