import { actionTool } from '../../contract/runs/action-tools.ts'
import { yieldToOthers } from '../../core/yield-to-others.ts'
import { bytesAsText, excerpt, readable, textAsBytes } from '../edits/excerpt.ts'
import { findSequence } from '../edits/find-sequence.ts'
import { lineNumbers } from '../edits/line-numbers.ts'
import { nearestLines } from '../edits/nearest-lines.ts'
import { type Region, type Replacement, replaceText, type TextEdit } from '../edits/replace-text.ts'
import { failed, type Tool, type ToolContext } from '../tool.ts'
import { FILE_BYTES, placeholderWritten, readBytes, writeBytes } from './files.ts'

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
    let count = 0
    for (const [i, one] of all.entries()) {
      await yieldToOthers()
      const replaced = replaceText(text, { ...one, old: asBytes(one.old), new: asBytes(one.new) }, FILE_BYTES)
      if (replaced.kind !== 'replaced') {
        const which = all.length === 1 ? '' : `Edit ${i + 1} of ${all.length}, so nothing was changed: `
        return refused(path, which + (await explained(replaced, text, one, { path, context })))
      }
      const { moved } = replaced
      text = replaced.text
      count += replaced.count
      regions = [
        ...regions.map(({ start, end }) => ({ start: moved(start), end: moved(end) })),
        ...replaced.regions,
      ]
    }
    const bytes = Buffer.from(text, 'latin1')
    const written = await writeBytes(context, path, bytes)
    if (written !== null) return written
    const lineOf = lineNumbers(text)
    const ranges = regions.map(({ start, end }) => ({
      start: lineOf(start) - 1,
      end: lineOf(Math.max(start, end - 1)),
    }))
    const changed = await excerpt(readable(text), ranges, context.redactor)
    return { status: 'ok', output: { status: 'ok', path, replaced: count, bytes: bytes.length, changed } }
  },
}

const asBytes = (text: string) => bytesAsText(textAsBytes(text))

/** Explains why a text was not replaced, so that the next call can be right. */
async function explained(
  replaced: Exclude<Replacement, { kind: 'replaced' }>,
  byte_text: string,
  one: TextEdit,
  { path, context }: { path: string; context: ToolContext },
): Promise<string> {
  if (replaced.kind === 'ambiguous') {
    const { lines, more } = replaced
    const named = lines.join(', ') + (more ? ', …' : '')
    return `\`old\` occurs ${more ? 'more than ' : ''}${lines.length} times in ${path}, in lines ${named}; it must occur exactly once. Add lines around it, or set \`replace_all\`.`
  }
  if (replaced.kind === 'excessive')
    return `${replaced.limit}, which is too much for an edit of ${path}. Use a command, for example sed.`
  const text = readable(byte_text)
  const at = one.new.trim() === '' ? null : findSequence(text, one.new)
  const done =
    at === null ? '' : ` \`new\` occurs in line ${lineNumbers(text)(at)}: this edit may already be applied.`
  const lines = text.split('\n').map(line => line.replace(/\r$/, ''))
  const nearest = nearestLines(lines, one.old.replace(/\r?\n$/, '').split(/\r?\n/))
  if (nearest === null)
    return `\`old\` does not occur in ${path} (${lines.length} lines), nor does anything like it.${done}`
  const { first, count, at: differs, difference } = nearest
  const shown = await excerpt(text, [{ start: first, end: first + count }], context.redactor)
  return `\`old\` does not occur in ${path}.${done} The nearest lines, where line ${first + differs + 1} is the first that differs: ${difference}.\n${shown}`
}

/** A text that does not match is for the agent to fix, and no ERROR of its own. */
function refused(path: string, message: string) {
  const { error: _entry, ...outcome } = failed('no_match', message)
  return { ...outcome, output: { ...outcome.output, path } }
}
