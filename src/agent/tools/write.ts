import { actionTool } from '../../contract/runs/action-tools.ts'
import { textAsBytes } from '../edits/excerpt.ts'
import type { Tool } from '../tool.ts'
import { placeholderWritten, writeBytes } from './files.ts'

export const write: Tool<'write'> = {
  name: actionTool.write,
  async run(context, { path, content }) {
    const refused = placeholderWritten(context, path, content)
    if (refused !== null) return refused
    const bytes = textAsBytes(content)
    const failed = await writeBytes(context, path, bytes)
    return failed ?? { status: 'ok', output: { status: 'ok', path, bytes: bytes.length } }
  },
}
