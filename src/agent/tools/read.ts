import { actionTool } from '../../contract/runs/action-tools.ts'
import { allOf, type Tool } from '../tool.ts'
import { readText } from './files.ts'

const LINES = 2_000
const LINE_CHARS = 2_000

export const read: Tool<'read'> = {
  name: actionTool.read,
  async run(context, input) {
    const file = await readText(context, input.path)
    if ('outcome' in file) return file.outcome
    const lines = file.text.split('\n')
    const first = input.offset ?? 1
    const chosen = lines.slice(first - 1, first - 1 + (input.limit ?? LINES))
    const shown = (await context.redactor.text(chosen.join('\n'))).split('\n')
    const content = shown.map(line => (line.length > LINE_CHARS ? `${line.slice(0, LINE_CHARS).toWellFormed()}…` : line)).join('\n')
    const long = shown.some(line => line.length > LINE_CHARS)
    const last = first + chosen.length - 1
    return {
      status: 'ok',
      output: {
        status: 'ok',
        path: input.path,
        content,
        first_line: first,
        last_line: last,
        total_lines: lines.length,
        bytes: file.bytes,
        truncated: last < lines.length,
      },
      truncated: long,
      whole: () => allOf(Buffer.from(chosen.join('\n'))),
    }
  },
}
