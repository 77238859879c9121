import { useQuery } from '@tanstack/react-query'
import { useSearch } from '@tanstack/react-router'
import { FolderOpen } from 'lucide-react'
import { useRef, useState } from 'react'
import type { RunFiles } from '../../../../../src/contract/runs/run-files.ts'
import type { AgentRun } from '../../../../../src/contract/runs/runs.ts'
import { runRootQuery } from '../../../api/run-files.ts'
import { plural } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { FilterBox } from '../../../ui/filter-box.tsx'
import { Blank, Loading } from '../../../ui/notice.tsx'
import { useEntrySeq } from '../use-entry-seq.ts'
import { FileView } from './file-view.tsx'
import { FilesProblem, LatestLink } from './files-problem.tsx'
import { FolderTree } from './folder-tree.tsx'
import { FoundFiles } from './found-files.tsx'

/** Characters that the API accepts. */
const MAX_SEARCH = 100
/** How often the newest files of an active run are requested. */
const REFETCH_MS = 5_000
/** The last files of a run may be kept so long after its end. */
const LAST_CHECKPOINT_MS = 60_000

/** The tree is beside the file, above it where there is less space, and left out on a phone. */
const beside_file =
  'shrink-0 border-line @max-md:hidden @max-2xl:max-h-2/5 @max-2xl:border-b @2xl:w-56 @2xl:border-r'

/** The files of the run as they were after the entry that the address names, or the newest ones. */
export default function FilesPane({ run }: { run: AgentRun }) {
  const { file } = useSearch({ from: '/app/agent/trace/$id' })
  const seq = useEntrySeq()
  const latest = seq === 0
  const [q, setQ] = useState<string>()
  const root = useQuery({
    ...runRootQuery(run.id, latest ? undefined : seq, latest ? `${run.turn} ${run.status}` : ''),
    refetchInterval: ({ state: { data } }) => (isFinal(run, data, latest) ? false : REFETCH_MS),
  })
  if (root.isPending) return <Loading label="Loading the files" />
  if (root.isError)
    return <FilesProblem error={root.error} retry={() => root.refetch()} what="folder" latest={latest} />
  if (root.data.total === 0) {
    return (
      <Blank icon={<FolderOpen />} title={run.terminal ? 'No files' : 'No files yet'}>
        {run.terminal ? 'The run kept no files.' : 'The files appear here when the run has started.'}
      </Blank>
    )
  }
  return (
    <div className="@container flex h-full flex-col">
      <Head root={root.data} latest={latest} q={q} on_q={setQ} />
      <div className="flex min-h-0 flex-1 flex-col @2xl:flex-row">
        <div className={`min-w-0 overflow-y-auto p-1.5 ${file === undefined ? 'flex-1' : beside_file}`}>
          {q === undefined ? (
            <FolderTree root={root.data} selected={file} />
          ) : (
            <FoundFiles root={root.data} q={q} selected={file} />
          )}
          <LeftOut files={root.data.left_out} />
        </div>
        {file !== undefined && (
          <FileView agent_run_id={run.id} seq={root.data.seq} path={file} latest={latest} />
        )}
      </div>
    </div>
  )
}

/**
 * Whether the files can no longer change: those after an entry once they are kept, and the newest ones a
 * while after the end of the run.
 */
function isFinal(run: AgentRun, files: RunFiles | undefined, latest: boolean): boolean {
  if (!latest && files !== undefined) return true
  const ended_ms = run.terminal && run.finished_at !== null ? Date.now() - Date.parse(run.finished_at) : 0
  return run.terminal && (files?.seq === run.total_logs || ended_ms > LAST_CHECKPOINT_MS)
}

type HeadProps = {
  root: RunFiles
  latest: boolean
  q: string | undefined
  on_q: (q: string | undefined) => void
}

function Head({ root, latest, q, on_q }: HeadProps) {
  const box = useRef<HTMLInputElement>(null)
  return (
    <div className="flex flex-wrap items-center gap-2 border-line border-b px-3 py-1.5">
      <span className="text-muted text-xs" data-testid="files-at">
        {root.seq === 0 ? 'Files at the start' : `Files after entry ${root.seq}`}
        {latest && <span className="text-faint"> · latest</span>}
      </span>
      {!latest && <LatestLink />}
      <FilterBox
        box={box}
        label="Find a file"
        placeholder="Find a file"
        value={q ?? ''}
        on_text={text => on_q(text?.slice(0, MAX_SEARCH))}
        low
        className="ml-auto w-44"
      />
    </div>
  )
}

/** The files of the workspace that were not kept. */
function LeftOut({ files }: { files: RunFiles['left_out'] }) {
  if (files.length === 0) return null
  return (
    <details className="mt-2 border-line border-t px-1.5 pt-1.5 text-muted text-xs">
      <summary className="min-h-6 cursor-pointer leading-6">{plural(files.length, 'file')} not kept</summary>
      <ul>
        {files.map(({ path, reason }) => (
          <li key={path} className="[overflow-wrap:anywhere]">
            <bdi>{visible(path)}</bdi>{' '}
            <span className="text-faint">{reason === 'too_large' ? 'too large' : 'could not be read'}</span>
          </li>
        ))}
      </ul>
    </details>
  )
}
