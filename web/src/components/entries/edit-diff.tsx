import { diffArrays } from 'diff'
import { visible } from '../../text/visible.ts'
import { Clamped } from './clamped.tsx'

type DiffLine = { sign: '+' | '-' | ' '; text: string }

/** A larger edit is shown as all old lines, then all new ones. Comparing takes lines times changes. */
const MAX_CHANGED_LINES = 1_000

/** Returns the lines that an edit removes and adds; unchanged lines appear once. */
export function editLines(before: string, after: string): DiffLine[] {
  const [old_lines, new_lines] = [lines(before), lines(after)]
  const changes = diffArrays(old_lines, new_lines, { maxEditLength: MAX_CHANGED_LINES })
  if (changes === undefined) return [...signed('-', old_lines), ...signed('+', new_lines)]
  return changes.flatMap(({ added, removed, value }) => signed(removed ? '-' : added ? '+' : ' ', value))
}

const signed = (sign: DiffLine['sign'], texts: string[]): DiffLine[] => texts.map(text => ({ sign, text }))

const lines = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))

const line_classes = { '+': 'bg-ok/11 before:text-ok', '-': 'bg-bad/11 before:text-bad', ' ': '' }
const signs = { '+': 'before:content-["+"]', '-': 'before:content-["−"]', ' ': 'before:content-[""]' }
const LINES_WHEN_CLOSED = 14

type Toggle = { open: boolean; on_toggle: () => void }

/** A small diff inside an entry. */
export function EditDiff({ before, after, ...toggle }: { before: string; after: string } & Toggle) {
  return (
    <DiffText
      text={editLines(before, after)
        .map(({ sign, text }) => sign + text)
        .join('\n')}
      {...toggle}
    />
  )
}

/** A patch as the agent wrote it; what is not a line of a hunk is shown as context. */
export function PatchDiff({ patch, ...toggle }: { patch: string } & Toggle) {
  return <DiffText text={patch.replace(/^(?![ +-])/gm, ' ')} {...toggle} />
}

/** Each line starts with its sign. */
function DiffText({ text, open, on_toggle }: { text: string } & Toggle) {
  return (
    <div className="overflow-hidden rounded-md border border-line bg-surface">
      <Clamped text={text} lines={LINES_WHEN_CLOSED} open={open} on_toggle={on_toggle}>
        {shown => (
          <pre className="max-h-[60vh] overflow-auto py-1 font-mono text-xs">
            {shown.split('\n').map((line, index) => {
              const sign = line.startsWith('+') ? '+' : line.startsWith('-') ? '-' : ' '
              return (
                <span
                  // biome-ignore lint/suspicious/noArrayIndexKey: the lines of one edit are never reordered
                  key={index}
                  className={`relative block min-h-[18px] whitespace-pre-wrap pr-3 pl-6 [overflow-wrap:anywhere] before:absolute before:left-2 ${line_classes[sign]} ${signs[sign]}`}
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
