import { useMutation, useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ArrowLeft, Download, Link2 } from 'lucide-react'
import type { ReactNode } from 'react'
import type { RunFile } from '../../../../../src/contract/runs/run-files.ts'
import { runFileBlob, runFileQuery } from '../../../api/run-files.ts'
import { bytesText } from '../../../text/bytes.ts'
import { visible } from '../../../text/visible.ts'
import { Badge } from '../../../ui/badge.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { IconButton } from '../../../ui/icon-button.tsx'
import { Loading, Notice } from '../../../ui/notice.tsx'
import { saveBlob } from '../../../ui/save-blob.ts'
import { FileCode } from './file-code.tsx'
import { FilesProblem } from './files-problem.tsx'

type Props = { agent_run_id: number; seq: number; path: string; latest: boolean }

/** One file of a run. */
export function FileView({ agent_run_id, seq, path, latest }: Props) {
  const file = useQuery(runFileQuery(agent_run_id, seq, path))
  const save = useMutation({
    mutationFn: () => runFileBlob(agent_run_id, seq, path),
    onSuccess: blob => saveBlob(blob, path.slice(path.lastIndexOf('/') + 1)),
  })
  const text = file.data?.text ?? null
  return (
    <section aria-label={visible(path)} className="flex min-h-0 min-w-0 flex-1 flex-col">
      <div className="flex items-center gap-1.5 border-line border-b bg-sunken px-2 py-1">
        <Link
          to="."
          search={previous => ({ ...previous, file: undefined })}
          hash
          aria-label="Back to the files"
          data-hint="Back to the files"
          className="grid size-7 shrink-0 place-items-center rounded-md text-muted hover:bg-hover @md:hidden"
        >
          <ArrowLeft aria-hidden className="size-4" />
        </Link>
        <bdi className="min-w-0 flex-1 font-mono text-xs [overflow-wrap:anywhere]">{visible(path)}</bdi>
        {file.data && <Facts file={file.data} />}
        <CopyButton label="Copy path" text={() => path} icon={<Link2 className="size-3.5" />} />
        {text !== null && <CopyButton label="Copy text" text={() => text} />}
        {file.data?.kind === 'file' && (
          <IconButton label="Download file" busy={save.isPending} onClick={() => save.mutate()}>
            <Download className="size-3.5" />
          </IconButton>
        )}
      </div>
      {save.isError && <Notice tone="bad">{visible(save.error.message)}</Notice>}
      {file.isPending && <Loading label="Loading the file" />}
      {file.isError && (
        <FilesProblem error={file.error} retry={() => file.refetch()} what="file" latest={latest} />
      )}
      {file.data && <Content file={file.data} />}
    </section>
  )
}

const Facts = ({ file }: { file: RunFile }) => (
  <span className="flex shrink-0 items-center gap-1.5">
    {file.executable && <Badge>executable</Badge>}
    {file.encoding !== null && file.encoding !== 'utf-8' && <Badge>{file.encoding}</Badge>}
    {file.size !== null && <span className="tabular text-2xs text-faint">{bytesText(file.size)}</span>}
  </span>
)

function Content({ file }: { file: RunFile }) {
  if (file.kind === 'link')
    return (
      <Remark>
        A link to{' '}
        <code className="font-mono [overflow-wrap:anywhere]">
          {visible(file.target ?? 'a target that is too long')}
        </code>
        . Links are not followed.
      </Remark>
    )
  if (file.kind === 'submodule')
    return (
      <Remark>
        A submodule at the commit <code className="font-mono [overflow-wrap:anywhere]">{file.commit}</code>.
        Its files are not part of the run.
      </Remark>
    )
  if (file.text === null) return <Remark>A binary file: its content is not shown.</Remark>
  if (file.size === 0) return <Remark>The file is empty.</Remark>
  return (
    <>
      {file.text_truncated && (
        <div className="p-2">
          <Notice tone="warn">Truncated: the first MiB is shown. Download the file to see all of it.</Notice>
        </div>
      )}
      <FileCode path={file.path} text={file.text} />
    </>
  )
}

const Remark = ({ children }: { children: ReactNode }) => (
  <p className="px-3 py-2.5 text-muted text-xs">{children}</p>
)
