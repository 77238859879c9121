import { visible } from '../../text/visible.ts'
import { Clamped } from './clamped.tsx'

export type DiffLine = { sign: '+' | '-' | ' '; text: string }

/** Edits of more lines are shown as all old lines, then all new ones. */
const compared_lines = 400

/** What an edit takes away and puts in its place; lines that stay are shown once. */
export function editLines(before: string, after: string): DiffLine[] {
  const [old_lines, new_lines] = [lines(before), lines(after)]
  const common = old_lines.length <= compared_lines && new_lines.length <= compared_lines ? longestCommon(old_lines, new_lines) : []
  const result: DiffLine[] = []
  let [i, j] = [0, 0]
  for (const [same_old, same_new] of [...common, [old_lines.length, new_lines.length] as const]) {
    while (i < same_old) result.push({ sign: '-', text: old_lines[i++] ?? '' })
    while (j < same_new) result.push({ sign: '+', text: new_lines[j++] ?? '' })
    if (i < old_lines.length) result.push({ sign: ' ', text: old_lines[i] ?? '' })
    i++
    j++
  }
  return result
}

/** Positions, old and new, of the lines of a longest common subsequence. */
function longestCommon(a: string[], b: string[]): (readonly [number, number])[] {
  const width = b.length + 1
  const length = new Uint16Array((a.length + 1) * width)
  const at = (i: number, j: number) => length[i * width + j] ?? 0
  for (let i = a.length - 1; i >= 0; i--) {
    for (let j = b.length - 1; j >= 0; j--) {
      length[i * width + j] = a[i] === b[j] ? at(i + 1, j + 1) + 1 : Math.max(at(i + 1, j), at(i, j + 1))
    }
  }
  const pairs: [number, number][] = []
  for (let i = 0, j = 0; i < a.length && j < b.length; ) {
    if (a[i] === b[j]) pairs.push([i++, j++])
    else if (at(i + 1, j) >= at(i, j + 1)) i++
    else j++
  }
  return pairs
}

const lines = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

const looks = { '+': 'bg-ok/11 before:text-ok', '-': 'bg-bad/11 before:text-bad', ' ': '' }
const signs = { '+': 'before:content-["+"]', '-': 'before:content-["−"]', ' ': 'before:content-[""]' }
const lines_closed = 14

/** A small diff inside an entry. */
export function MiniDiff({ before, after, open, on_toggle }: { before: string; after: string; open: boolean; on_toggle: () => void }) {
  const all = editLines(before, after)
  return (
    <div className="overflow-hidden rounded-md border border-line bg-surface">
      <Clamped text={all.map(({ sign, text }) => sign + text).join('\n')} lines={lines_closed} open={open} on_toggle={on_toggle}>
        {shown => (
          <pre className="max-h-[60vh] overflow-auto py-1 font-mono text-xs">
            {shown.split('\n').map((line, index) => {
              const sign = line.startsWith('+') ? '+' : line.startsWith('-') ? '-' : ' '
              return (
                <span
                  // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one edit never change places
                  key={index}
                  className={`relative block min-h-[18px] whitespace-pre-wrap pr-3 pl-6 [overflow-wrap:anywhere] before:absolute before:left-2 ${looks[sign]} ${signs[sign]}`}
                >
                  {visible(line.slice(1))}
                </span>
              )
            })}
          </pre>
        )}
      </Clamped>
    </div>
  )
}
