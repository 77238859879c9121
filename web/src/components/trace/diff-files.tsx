import { useMemo } from 'react'
import type { RunDiff } from '../../../../src/contract/runs/run-diff.ts'
import { plural } from '../../text/format.ts'
import { filePatches } from '../../trace/patch.ts'
import { CopyButton } from '../../ui/copy-button.tsx'
import { Notice } from '../../ui/notice.tsx'
import { type CommentForm, RunDiffFile } from './run-diff-file.tsx'

/** Lines of change up to which every file is open from the start. */
const open_lines = 1500

type Diff = Pick<RunDiff, 'files' | 'files_changed' | 'additions' | 'deletions' | 'patch' | 'patch_truncated'>

/** The id of the element of a changed file. */
export const fileAnchor = (index: number) => `file-${index}`

/** The size of a change, and its files one below the other. */
export function DiffFiles({ diff, comment_form }: { diff: Diff; comment_form?: CommentForm | undefined }) {
  const { files_changed, additions, deletions, patch, patch_truncated } = diff
  const files = useMemo(() => filePatches(diff), [diff])
  return (
    <div className="min-w-0 space-y-3">
      <div className="flex items-center gap-2 text-muted text-xs">
        <span data-testid="diff-summary" className="tabular">
          {plural(files_changed, 'file')} changed <span className="text-ok">+{additions}</span>{' '}
          <span className="text-bad">−{deletions}</span>
        </span>
        <span className="flex-1" />
        <CopyButton label="Copy as patch" text={() => patch} />
      </div>
      {patch_truncated && <Notice tone="warn">The change is too large to show completely. The branch contains all of it.</Notice>}
      {files.map(({ file, patch: text }, index) => (
        <div key={`${file.old_path ?? ''} ${file.path}`} id={fileAnchor(index)} className="scroll-mt-3">
          <RunDiffFile file={file} patch={text} open={additions + deletions <= open_lines} comment_form={comment_form} />
        </div>
      ))}
    </div>
  )
}
