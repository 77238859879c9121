import { ChevronRight, MessageSquarePlus } from 'lucide-react'
import { useState } from 'react'
import type { RunDiff } from '../../../../../src/contract/runs/run-diff.ts'
import { visible } from '../../../text/visible.ts'
import { Badge } from '../../../ui/badge.tsx'
import { IconButton } from '../../../ui/icon-button.tsx'
import { type CommentForm, FilePatch } from './file-patch.tsx'
import type { ViewedMarks } from './viewed-marks.ts'

type File = RunDiff['files'][number]
type Props = {
  file: File
  patch: string | null
  open: boolean
  comment_form?: CommentForm | undefined
  /** Marks files as viewed; absent: there are no marks. */
  viewed?: ViewedMarks | undefined
}

/** A file with more lines is rendered on demand. */
const large_lines = 3000

/** One changed file. Its diff is parsed and drawn only while it is open; a viewed one is closed. */
export function RunDiffFile({ file, patch, open: initially, comment_form, viewed }: Props) {
  const changed = (file.additions ?? 0) + (file.deletions ?? 0)
  const is_viewed = viewed?.has(file, patch) ?? false
  const [open, setOpen] = useState(initially && changed <= large_lines && !is_viewed)
  const [commenting, setCommenting] = useState(false)
  return (
    <section
      aria-label={visible(file.path)}
      className="overflow-hidden rounded-lg border border-line bg-surface"
    >
      <div className="flex items-center bg-sunken">
        <button
          type="button"
          aria-expanded={open}
          onClick={() => setOpen(!open)}
          className="flex min-h-8 min-w-0 flex-1 items-center gap-2 px-2.5 py-1 text-left hover:bg-hover"
        >
          <ChevronRight
            aria-hidden
            className={`size-3.5 shrink-0 text-faint transition-transform ${open ? 'rotate-90' : ''}`}
          />
          <FileName file={file} faint={is_viewed} />
        </button>
        {comment_form && (
          <IconButton label={`Comment on ${visible(file.path)}`} onClick={() => setCommenting(true)}>
            <MessageSquarePlus className="size-4" />
          </IconButton>
        )}
        {viewed && (
          <label className="flex min-h-6 cursor-pointer items-center gap-1 px-2 text-muted text-xs">
            <input
              type="checkbox"
              checked={is_viewed}
              onChange={event => {
                viewed.set(file, patch, event.target.checked)
                setOpen(!event.target.checked)
              }}
            />
            Viewed
          </label>
        )}
      </div>
      {commenting && comment_form?.({ path: file.path, line: null }, () => setCommenting(false))}
      {open && <FilePatch file={file} patch={patch} comment_form={comment_form} />}
    </section>
  )
}

const FileName = ({ file, faint }: { file: File; faint: boolean }) => (
  <>
    <span
      className={`min-w-0 flex-1 font-mono text-xs [overflow-wrap:anywhere] ${faint ? 'text-faint' : ''}`}
    >
      {file.old_path !== null && file.old_path !== file.path && (
        <span className="text-faint">{visible(file.old_path)} → </span>
      )}
      {visible(file.path)}
    </span>
    {file.status !== 'modified' && <Badge>{file.status.replace('_', ' ')}</Badge>}
    <LineCounts file={file} />
  </>
)

const LineCounts = ({ file }: Pick<Props, 'file'>) => (
  <span className="tabular shrink-0 text-xs">
    {file.binary ? (
      <span className="text-faint">binary</span>
    ) : (
      <>
        <span className="text-ok">+{file.additions ?? 0}</span>{' '}
        <span className="text-bad">−{file.deletions ?? 0}</span>
      </>
    )}
  </span>
)
