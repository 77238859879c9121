import { type ReactNode, useMemo, useState } from 'react'
import {
  type ChangeData,
  Decoration,
  Diff,
  type EventMap,
  type GutterOptions,
  getChangeKey,
  Hunk,
  parseDiff,
} from 'react-diff-view'
import type { RunDiff } from '../../../../../src/contract/runs/run-diff.ts'
import { visible } from '../../../text/visible.ts'
import type { DiffTarget } from '../../../trace/changes/diff-target.ts'
import { useTokens } from './use-tokens.ts'

/** Renders the form for a comment. Without it the diff can only be read. */
export type CommentForm = (target: DiffTarget, on_close: () => void) => ReactNode

type Props = { file: RunDiff['files'][number]; patch: string | null; comment_form?: CommentForm | undefined }

/** The lines of one changed file. */
export function FilePatch({ file, patch, comment_form }: Props) {
  const parts = useMemo(() => parse(patch), [patch])
  const tokens = useTokens(
    file.path,
    useMemo(() => visible(patch ?? ''), [patch]),
    parts ?? [],
  )
  const [chosen, setChosen] = useState<ChangeData | null>(null)
  if (file.binary) return <Remark>A binary file: its content is not shown.</Remark>
  if (patch === null)
    return <Remark>This part of the change was left out because the whole is too large.</Remark>
  if (parts === null) return <pre className="overflow-x-auto p-3 font-mono text-xs">{visible(patch)}</pre>
  const hunks = parts.flatMap(part => part.hunks)
  if (hunks.length === 0)
    return <Remark>No line was changed{file.status === 'renamed' ? ', only the name' : ''}.</Remark>
  const form = chosen && comment_form?.({ path: file.path, line: lineOf(chosen) }, () => setChosen(null))
  return parts.map((part, index) => (
    <Diff
      // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one patch never change their order
      key={index}
      viewType="unified"
      diffType={part.type}
      hunks={part.hunks}
      tokens={tokens?.[index] ?? null}
      {...(comment_form && { renderGutter, gutterEvents: opensForm(setChosen) })}
      widgets={
        chosen && part.hunks.some(hunk => hunk.changes.includes(chosen))
          ? { [getChangeKey(chosen)]: form }
          : {}
      }
    >
      {hunks =>
        hunks.flatMap(hunk => [
          <Decoration key={`at ${hunk.content}`}>{hunk.content}</Decoration>,
          <Hunk key={hunk.content} hunk={hunk} />,
        ])
      }
    </Diff>
  ))
}

function lineOf(change: ChangeData): DiffTarget['line'] {
  const text = change.content
  if (change.type === 'normal') return { side: 'RIGHT', number: change.newLineNumber, text }
  return { side: change.type === 'delete' ? 'LEFT' : 'RIGHT', number: change.lineNumber, text }
}

const opensForm = (choose: (change: ChangeData | null) => void): EventMap => ({
  onClick: ({ change }) => choose(change),
})

/**
 * The number of a line with a button for the mouse: the keyboard uses the one of the file, not one per line.
 */
function renderGutter({ change, side, renderDefault }: GutterOptions): ReactNode {
  const number = renderDefault()
  if (side === 'old' && change.type !== 'delete') return number
  if (side === 'new' && change.type === 'delete') return number
  return (
    <>
      <button
        type="button"
        tabIndex={-1}
        className="comment-line"
        aria-label={`Comment on line ${lineOf(change)?.number}`}
      >
        +
      </button>
      {number}
    </>
  )
}

const Remark = ({ children }: { children: ReactNode }) => (
  <p className="px-3 py-2.5 text-faint text-xs">{children}</p>
)

/** Null when the parser cannot make sense of it: then the patch is shown as it is. */
function parse(patch: string | null) {
  try {
    return patch === null ? [] : parseDiff(visible(patch))
  } catch {
    return null
  }
}
