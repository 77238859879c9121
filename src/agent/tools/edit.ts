import { actionTool } from '../../contract/runs/action-tools.ts'
import { bytesAsText, excerpt, readable, textAsBytes } from '../edits/excerpt.ts'
import { nearestLines } from '../edits/nearest-lines.ts'
import { lineAt, type Region, type Replaced, replaceText, shifted, type TextEdit } from '../edits/replace-text.ts'
import { failed, type Tool, type ToolContext } from '../tool.ts'
import { placeholderWritten, readBytes, writeBytes } from './files.ts'

const MAX_LINE_NUMBERS = 20

export const edit: Tool<'edit'> = {
  name: actionTool.edit,
  async run(context, { path, edits, ...single }) {
    const all: TextEdit[] = edits ?? [{ ...single, old: single.old ?? '', new: single.new ?? '' }]
    for (const one of all) {
      if (one.old === one.new) return refused(path, '`old` and `new` are the same')
      const hidden = placeholderWritten(context, path, one.new, one.old)
      if (hidden !== null) return hidden
    }
    const file = await readBytes(context, path)
    if ('outcome' in file) return file.outcome
    let text = bytesAsText(file.value)
    let regions: Region[] = []
    for (const [i, one] of all.entries()) {
      const replaced = replaceText(text, { ...one, old: asBytes(one.old), new: asBytes(one.new) })
      if (replaced.kind !== 'replaced') {
        const which = all.length === 1 ? '' : `Edit ${i + 1} of ${all.length}, so nothing was changed: `
        return refused(path, which + (await explained(replaced, text, one, { path, context })))
      }
      text = replaced.text
      regions = shifted(regions, replaced.regions)
    }
    const bytes = Buffer.from(text, 'latin1')
    const written = await writeBytes(context, path, bytes)
    if (written !== null) return written
    const ranges = regions.map(({ start, end }) => ({ start: lineAt(text, start) - 1, end: lineAt(text, Math.max(start, end - 1)) }))
    const changed = await excerpt(readable(text), ranges, context.redactor)
    return { status: 'ok', output: { status: 'ok', path, replaced: regions.length, bytes: bytes.length, changed } }
  },
}

const asBytes = (text: string) => bytesAsText(textAsBytes(text))

/** Says why a text was not replaced, so that the next call can be right. */
async function explained(
  replaced: Exclude<Replaced, { kind: 'replaced' }>,
  byte_text: string,
  one: TextEdit,
  { path, context }: { path: string; context: ToolContext },
): Promise<string> {
  if (replaced.kind === 'ambiguous') {
    const { lines } = replaced
    const named = lines.slice(0, MAX_LINE_NUMBERS).join(', ') + (lines.length > MAX_LINE_NUMBERS ? ', …' : '')
    return `\`old\` occurs ${lines.length} times in ${path}, in lines ${named}; it must occur exactly once. Add lines around it, or set \`replace_all\`.`
  }
  const text = readable(byte_text)
  const at = one.new.trim() === '' ? -1 : text.indexOf(one.new)
  const done = at < 0 ? '' : ` \`new\` occurs in line ${lineAt(text, at)}: perhaps this edit was made already.`
  const lines = text.split('\n').map(line => line.replace(/\r$/, ''))
  const nearest = nearestLines(lines, one.old.replace(/\r?\n$/, '').split(/\r?\n/))
  if (nearest === null) return `\`old\` does not occur in ${path} (${lines.length} lines), nor does anything like it.${done}`
  const { first, count, at: differs, difference } = nearest
  const shown = await excerpt(text, [{ start: first, end: first + count }], context.redactor)
  return `\`old\` does not occur in ${path}.${done} The nearest lines, where line ${first + differs + 1} is the first that differs: ${difference}.\n${shown}`
}

/** A text that does not match is for the agent to fix, and no ERROR of its own. */
function refused(path: string, message: string) {
  const { error: _entry, ...outcome } = failed('no_match', message)
  return { ...outcome, output: { ...outcome.output, path } }
}
