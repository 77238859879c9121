import { ChevronRight, MessageSquarePlus } from 'lucide-react'
import { type ReactNode, useMemo, useState } from 'react'
import { type ChangeData, Decoration, Diff, type EventMap, type GutterOptions, getChangeKey, Hunk, parseDiff } from 'react-diff-view'
import type { RunDiff } from '../../../../src/contract/runs/run-diff.ts'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { IconButton } from '../../ui/icon-button.tsx'

/** What a comment is about. `line`: of the file after the change, or of the one before it (`LEFT`), with its text; null: the whole file. */
export type DiffTarget = { path: string; line: { side: 'LEFT' | 'RIGHT'; number: number; text: string } | null }

/** Renders the form for a comment. Without it the diff can only be read. */
export type CommentForm = (target: DiffTarget, on_close: () => void) => ReactNode

type Props = { file: RunDiff['files'][number]; patch: string | null; open: boolean; comment_form?: CommentForm | undefined }

/** A file with more lines is rendered on demand. */
const large_lines = 3000

/** One changed file. Its diff is parsed and drawn only while it is open. */
export function RunDiffFile({ file, patch, open: initially, comment_form }: Props) {
  const changed = (file.additions ?? 0) + (file.deletions ?? 0)
  const [open, setOpen] = useState(initially && changed <= large_lines)
  const [commenting, setCommenting] = useState(false)
  return (
    <section aria-label={visible(file.path)} className="overflow-hidden rounded-lg border border-line bg-surface">
      <div className="flex items-center bg-sunken">
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="flex min-h-8 min-w-0 flex-1 items-center gap-2 px-2.5 py-1 text-left hover:bg-hover"
        >
          <ChevronRight aria-hidden className={`size-3.5 shrink-0 text-faint transition-transform ${open ? 'rotate-90' : ''}`} />
          <span className="min-w-0 flex-1 font-mono text-xs [overflow-wrap:anywhere]">
            {file.old_path !== null && file.old_path !== file.path && <span className="text-faint">{visible(file.old_path)} → </span>}
            {visible(file.path)}
          </span>
          {file.status !== 'modified' && <Badge>{file.status.replace('_', ' ')}</Badge>}
          <LineCounts file={file} />
        </button>
        {comment_form && (
          <IconButton label={`Comment on ${visible(file.path)}`} onClick={() => setCommenting(true)}>
            <MessageSquarePlus className="size-4" />
          </IconButton>
        )}
      </div>
      {commenting && comment_form?.({ path: file.path, line: null }, () => setCommenting(false))}
      {open && <FileDiff file={file} patch={patch} comment_form={comment_form} />}
    </section>
  )
}

const LineCounts = ({ file }: Pick<Props, 'file'>) => (
  <span className="tabular shrink-0 text-xs">
    {file.binary ? (
      <span className="text-faint">binary</span>
    ) : (
      <>
        <span className="text-ok">+{file.additions ?? 0}</span> <span className="text-bad">−{file.deletions ?? 0}</span>
      </>
    )}
  </span>
)

function FileDiff({ file, patch, comment_form }: Omit<Props, 'open'>) {
  const parts = useMemo(() => parse(patch), [patch])
  const [chosen, setChosen] = useState<ChangeData | null>(null)
  if (file.binary) return <Remark>A binary file: its content is not shown.</Remark>
  if (patch === null) return <Remark>This part of the change was left out because the whole is too large.</Remark>
  if (parts === null) return <pre className="overflow-x-auto p-3 font-mono text-xs">{visible(patch)}</pre>
  const hunks = parts.flatMap(part => part.hunks)
  if (hunks.length === 0) return <Remark>No line was changed{file.status === 'renamed' ? ', only the name' : ''}.</Remark>
  const form = chosen && comment_form?.({ path: file.path, line: lineOf(chosen) }, () => setChosen(null))
  return parts.map((part, index) => (
    <Diff
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one patch never change their order
      key={index}
      viewType="unified"
      diffType={part.type}
      hunks={part.hunks}
      {...(comment_form && { renderGutter, gutterEvents: opensForm(setChosen) })}
      widgets={chosen && part.hunks.some(hunk => hunk.changes.includes(chosen)) ? { [getChangeKey(chosen)]: form } : {}}
    >
      {hunks =>
        hunks.flatMap(hunk => [<Decoration key={`at ${hunk.content}`}>{hunk.content}</Decoration>, <Hunk key={hunk.content} hunk={hunk} />])
      }
    </Diff>
  ))
}

function lineOf(change: ChangeData): DiffTarget['line'] {
  const text = change.content
  if (change.type === 'normal') return { side: 'RIGHT', number: change.newLineNumber, text }
  return { side: change.type === 'delete' ? 'LEFT' : 'RIGHT', number: change.lineNumber, text }
}

const opensForm = (choose: (change: ChangeData | null) => void): EventMap => ({ onClick: ({ change }) => choose(change) })

/** The number of a line with a button for the mouse: the keyboard uses the one of the file, not one per line. */
function renderGutter({ change, side, renderDefault }: GutterOptions): ReactNode {
  const number = renderDefault()
  if (side === 'old' && change.type !== 'delete') return number
  if (side === 'new' && change.type === 'delete') return number
  return (
    <>
      <button type="button" tabIndex={-1} className="comment-line" aria-label={`Comment on line ${lineOf(change)?.number}`}>
        +
      </button>
      {number}
    </>
  )
}

const Remark = ({ children }: { children: ReactNode }) => <p className="px-3 py-2.5 text-faint text-xs">{children}</p>

/** Null when the parser cannot make sense of it: then the patch is shown as it is. */
function parse(patch: string | null) {
  try {
    return patch === null ? [] : parseDiff(visible(patch))
  } catch {
    return null
  }
}
