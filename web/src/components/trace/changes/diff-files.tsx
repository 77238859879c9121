import { useMemo } from 'react'
import type { RunDiff } from '../../../../../src/contract/runs/run-diff.ts'
import { plural } from '../../../text/format.ts'
import { filePatches } from '../../../trace/changes/patch.ts'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { Notice } from '../../../ui/notice.tsx'
import type { CommentForm } from './file-patch.tsx'
import { RunDiffFile } from './run-diff-file.tsx'
import type { ViewedMarks } from './viewed-marks.ts'

/** Lines of change up to which every file is open from the start. */
const open_lines = 1500

type Diff = Pick<RunDiff, 'files' | 'files_changed' | 'additions' | 'deletions' | 'patch' | 'patch_truncated'>

/** Returns the id of the element of a changed file; `of` differs between the diffs of one page. */
export const fileAnchor = (index: number, of = '') => `file-${of}${index}`

type Props = {
  diff: Diff
  of?: string
  comment_form?: CommentForm | undefined
  viewed?: ViewedMarks | undefined
}

/** The size of a change, and its files one below the other. */
export function DiffFiles({ diff, of, comment_form, viewed }: Props) {
  const { files_changed, additions, deletions, patch, patch_truncated } = diff
  const files = useMemo(() => filePatches(diff), [diff])
  const viewed_files = files.filter(({ file, patch }) => viewed?.has(file, patch)).length
  return (
    <div className="min-w-0 space-y-3">
      <div className="flex items-center gap-2 text-muted text-xs">
        <span data-testid="diff-summary" className="tabular">
          {plural(files_changed, 'file')} changed <span className="text-ok">+{additions}</span>{' '}
          <span className="text-bad">−{deletions}</span>
        </span>
        {viewed_files > 0 && (
          <span className="tabular">
            {viewed_files} of {files_changed} viewed
          </span>
        )}
        <span className="flex-1" />
        <CopyButton label="Copy as patch" text={() => patch} />
      </div>
      {patch_truncated && (
        <Notice tone="warn">
          The change is too large to show completely. The branch contains all of it.
        </Notice>
      )}
      {files.map(({ file, patch: text }, index) => (
        <div key={`${file.old_path ?? ''} ${file.path}`} id={fileAnchor(index, of)} className="scroll-mt-3">
          <RunDiffFile
            file={file}
            patch={text}
            open={additions + deletions <= open_lines}
            comment_form={comment_form}
            viewed={viewed}
          />
        </div>
      ))}
    </div>
  )
}
