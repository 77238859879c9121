/** Offsets of a changed part in a text, `end` exclusive, and how many characters it has more than before. */
export type Region = { start: number; end: number; growth: number }
export type TextEdit = { old: string; new: string; replace_all?: boolean | undefined }

/** `ambiguous`: the line numbers of all occurrences. */
export type Replaced = { kind: 'replaced'; text: string; regions: Region[] } | { kind: 'missing' } | { kind: 'ambiguous'; lines: number[] }

type Match = { start: number; end: number; replacement: string }

/**
 * Replaces `old` by `new`. Line endings of the text stay as they are: where an exact match fails, LF and CRLF count as the same, and so do a
 * last line with and without its line break. `regions` are in the returned text.
 */
export function replaceText(text: string, edit: TextEdit): Replaced {
  const matches = findMatches(text, edit)
  if (matches.length === 0) return { kind: 'missing' }
  if (matches.length > 1 && edit.replace_all !== true) return { kind: 'ambiguous', lines: matches.map(({ start }) => lineAt(text, start)) }
  const pieces: string[] = []
  const regions: Region[] = []
  let [from, length] = [0, 0]
  for (const { start, end, replacement } of matches) {
    pieces.push(text.slice(from, start), replacement)
    length += start - from
    regions.push({ start: length, end: length + replacement.length, growth: replacement.length - (end - start) })
    length += replacement.length
    from = end
  }
  pieces.push(text.slice(from))
  return { kind: 'replaced', text: pieces.join(''), regions }
}

/** Returns where the changed parts of a text are after further changes, whose own parts come last. */
export function shifted(regions: Region[], further: Region[]): Region[] {
  const moved = (position: number) => {
    let moved_by = 0
    for (const { start, growth } of further) if (start - moved_by < position) moved_by += growth
    return position + moved_by
  }
  return [...regions.map(({ start, end, growth }) => ({ start: moved(start), end: moved(end), growth })), ...further]
}

function findMatches(text: string, edit: TextEdit): Match[] {
  const { old } = edit
  const exact = positions(text, old).map(start => withEnding(text, start, start + old.length, edit.new))
  if (exact.length > 0) return exact
  if (text.includes('\r\n') || old.includes('\r\n')) {
    const pattern = new RegExp(old.split(/\r?\n/).map(RegExp.escape).join('\\r?\\n'), 'g')
    const found = [...text.matchAll(pattern)].map(({ 0: match, index }) => withEnding(text, index, index + match.length, edit.new))
    if (found.length > 0) return found
  }
  const line = old.replace(/\r?\n$/, '')
  if (line === old || line === '' || !text.endsWith(line)) return []
  return [withEnding(text, text.length - line.length, text.length, edit.new.replace(/\r?\n$/, ''))]
}

function positions(text: string, wanted: string): number[] {
  const found: number[] = []
  for (let at = text.indexOf(wanted); at >= 0; at = text.indexOf(wanted, at + wanted.length)) found.push(at)
  return found
}

/** The replacement with CRLF if the line at this position ends so. */
function withEnding(text: string, start: number, end: number, replacement: string): Match {
  const at = text.indexOf('\n', start)
  const ending = at >= 0 ? at : text.lastIndexOf('\n', start)
  const windows = ending > 0 && text[ending - 1] === '\r'
  return { start, end, replacement: windows ? replacement.replace(/\r?\n/g, '\r\n') : replacement }
}

/** The number of the line, from 1, to which a position belongs. */
export const lineAt = (text: string, position: number): number => text.slice(0, position).split('\n').length
