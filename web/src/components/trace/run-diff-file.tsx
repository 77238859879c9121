import { ChevronRight } from 'lucide-react'
import { useMemo, useState } from 'react'
import { Decoration, Diff, Hunk, parseDiff } from 'react-diff-view'
import type { RunDiff } from '../../../../src/contract/runs/run-diff.ts'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'

type Props = { file: RunDiff['files'][number]; patch: string | null; open: boolean }

/** A file with more lines is rendered on demand. */
const large_lines = 3000

/** One changed file. Its diff is parsed and drawn only while it is open. */
export function RunDiffFile({ file, patch, open: initially }: Props) {
  const changed = (file.additions ?? 0) + (file.deletions ?? 0)
  const [open, setOpen] = useState(initially && changed <= large_lines)
  return (
    <section aria-label={visible(file.path)} className="overflow-hidden rounded-lg border border-line bg-surface">
      <button
        type="button"
        aria-expanded={open}
        onClick={() => setOpen(!open)}
        className="flex min-h-8 w-full items-center gap-2 bg-sunken px-2.5 py-1 text-left hover:bg-hover"
      >
        <ChevronRight aria-hidden className={`size-3.5 shrink-0 text-faint transition-transform ${open ? 'rotate-90' : ''}`} />
        <span className="min-w-0 flex-1 font-mono text-xs [overflow-wrap:anywhere]">
          {file.old_path !== null && file.old_path !== file.path && <span className="text-faint">{visible(file.old_path)} → </span>}
          {visible(file.path)}
        </span>
        {file.status !== 'modified' && <Badge>{file.status.replace('_', ' ')}</Badge>}
        <span className="tabular shrink-0 text-xs">
          {file.binary ? (
            <span className="text-faint">binary</span>
          ) : (
            <>
              <span className="text-ok">+{file.additions ?? 0}</span> <span className="text-bad">−{file.deletions ?? 0}</span>
            </>
          )}
        </span>
      </button>
      {open && <FileDiff file={file} patch={patch} />}
    </section>
  )
}

function FileDiff({ file, patch }: Omit<Props, 'open'>) {
  const parts = useMemo(() => parse(patch), [patch])
  if (file.binary) return <Remark>A binary file: its content is not shown.</Remark>
  if (patch === null) return <Remark>This part of the change was left out because the whole is too large.</Remark>
  if (parts === null) return <pre className="overflow-x-auto p-3 font-mono text-xs">{visible(patch)}</pre>
  const hunks = parts.flatMap(part => part.hunks)
  if (hunks.length === 0) return <Remark>No line was changed{file.status === 'renamed' ? ', only the name' : ''}.</Remark>
  return parts.map((part, index) => (
    // biome-ignore lint/suspicious/noArrayIndexKey: the parts of one patch never change their order
    <Diff key={index} viewType="unified" diffType={part.type} hunks={part.hunks}>
      {hunks =>
        hunks.flatMap(hunk => [<Decoration key={`at ${hunk.content}`}>{hunk.content}</Decoration>, <Hunk key={hunk.content} hunk={hunk} />])
      }
    </Diff>
  ))
}

const Remark = ({ children }: { children: React.ReactNode }) => <p className="px-3 py-2.5 text-faint text-xs">{children}</p>

/** Null when the parser cannot make sense of it: then the patch is shown as it is. */
function parse(patch: string | null) {
  try {
    return patch === null ? [] : parseDiff(visible(patch))
  } catch {
    return null
  }
}
