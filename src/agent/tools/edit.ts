import { actionTool } from '../../contract/runs/action-tools.ts'
import { failed, type Tool } from '../tool.ts'
import { placeholderWritten, readText, writeText } from './files.ts'

export const edit: Tool<'edit'> = {
  name: actionTool.edit,
  async run(context, input) {
    if (input.old === input.new) return refused(input.path, '`old` and `new` are the same')
    const hidden = placeholderWritten(context, input.path, input.new, input.old)
    if (hidden !== null) return hidden
    const file = await readText(context, input.path)
    if ('outcome' in file) return file.outcome
    const pieces = file.text.split(input.old)
    const found = pieces.length - 1
    if (found === 0) return refused(input.path, `\`old\` does not occur in ${input.path}`)
    if (found > 1 && !input.replace_all)
      return refused(input.path, `\`old\` occurs ${found} times in ${input.path}; it must occur exactly once`)
    const written = await writeText(await context.sandbox(), context, input.path, pieces.join(input.new))
    if ('outcome' in written) return written.outcome
    return { status: 'ok', output: { status: 'ok', path: input.path, replaced: found, bytes: written.value } }
  },
}

/** A text that does not match is for the agent to fix, and no ERROR of its own. */
function refused(path: string, message: string) {
  const { error: _entry, ...outcome } = failed('no_match', message)
  return { ...outcome, output: { ...outcome.output, path } }
}
