import { useMutation, useQuery } from '@tanstack/react-query'
import { Archive, ArchiveRestore, Download, Link2, Pause, Square } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import type { AgentRun } from '../../../../../src/contract/runs/runs.ts'
import { repositoriesQuery } from '../../../api/queries.ts'
import type { StreamState } from '../../../api/visible-tab-stream.ts'
import { plural } from '../../../text/format.ts'
import { visible } from '../../../text/visible.ts'
import { traceAsJsonl } from '../../../trace/download.ts'
import { isRecorded } from '../../../trace/recorded.ts'
import { Button } from '../../../ui/button.tsx'
import { CopyButton } from '../../../ui/copy-button.tsx'
import { IconButton } from '../../../ui/icon-button.tsx'
import { saveBlob } from '../../../ui/save-blob.ts'
import { useReadOnlyReason } from '../../permission.ts'
import { ConnectionNote } from '../../trace/connection-note.tsx'
import { AnalyzeRun } from './analyze-run.tsx'
import { useRunActions } from '../run-actions.ts'
import { RunFacts } from './run-facts.tsx'
import { hasFailingChecks } from '../run-numbers.ts'
import { RunTitle } from './run-title.tsx'
import { StatusPill } from '../status-pill.tsx'

const RunRemedy = lazy(() => import('../remedies/run-remedy.tsx').catch(() => ({ default: () => null })))

const mayNeedRemedy = (run: AgentRun) => ['waiting', 'paused', 'failed'].includes(run.status) || hasFailingChecks(run)

type Props = { run: AgentRun; stream: StreamState; link: () => string }

/** The title and state of a run, and the actions on it. */
export function RunHeader({ run, stream, link }: Props) {
  const forbidden = useReadOnlyReason()
  const actions = useRunActions(run)
  const repository = useQuery(repositoriesQuery).data?.find(({ id }) => id === run.repo_id)
  const failure = actions.stop.error ?? actions.pause.error ?? actions.archive.error
  return (
    <header className="shrink-0 border-line border-b bg-surface px-3 py-2">
      <div className="flex flex-wrap items-center gap-2">
        <div className="min-w-0 flex-1 max-sm:basis-full">
          <RunTitle run={run} forbidden={forbidden} />
        </div>
        <RunControls run={run} actions={actions} forbidden={forbidden} />
        <AnalyzeRun run={run} />
        <IconButton
          label={run.archived ? 'Unarchive' : 'Archive'}
          reason={forbidden}
          busy={actions.archive.isPending}
          onClick={() => actions.archive.mutate(!run.archived)}
        >
          {run.archived ? <ArchiveRestore className="size-4" /> : <Archive className="size-4" />}
        </IconButton>
        <CopyButton label="Copy link" text={link} icon={<Link2 className="size-4" />} />
        <DownloadButton run={run} />
      </div>
      <div className="mt-1 flex flex-wrap items-center gap-x-3 gap-y-1 text-muted text-xs">
        <StatusPill run={run} detailed />
        <RunFacts run={run} repository={repository?.full_name ?? null} live={stream.name === 'live'} />
        <ConnectionNote state={stream} />
        {failure && (
          <span role="alert" className="text-bad">
            {visible(failure.message)}
          </span>
        )}
      </div>
      {mayNeedRemedy(run) && (
        <Suspense>
          <RunRemedy run={run} />
        </Suspense>
      )}
    </header>
  )
}

type Controls = { run: AgentRun; actions: ReturnType<typeof useRunActions>; forbidden: string | null }

/** Pause and Stop, each with the reason why it is disabled. */
function RunControls({ run, actions, forbidden }: Controls) {
  const unstoppable = run.terminal ? `The run has ended: ${run.status}` : run.status === 'cancelling' ? 'The run is being stopped' : null
  const unpausable = isRecorded(run)
    ? 'This run records a local session and cannot be paused here'
    : run.status === 'paused'
      ? 'The run is paused: continue it below'
      : run.pause_requested_at
        ? 'The run is about to pause'
        : null
  return (
    <>
      <Button
        reason={forbidden ?? unstoppable ?? unpausable}
        busy={actions.pause.isPending}
        onClick={() => actions.pause.mutate()}
        className={run.terminal ? 'max-sm:hidden' : ''}
      >
        <Pause aria-hidden className="size-3 fill-current" /> Pause
      </Button>
      <Button
        variant="danger"
        reason={forbidden ?? unstoppable}
        busy={actions.stop.isPending}
        onClick={() => actions.stop.mutate()}
        className={run.terminal ? 'max-sm:hidden' : ''}
      >
        <Square aria-hidden className="size-3 fill-current" /> Stop
      </Button>
    </>
  )
}

function DownloadButton({ run }: { run: AgentRun }) {
  const [progress, setProgress] = useState(0)
  const download = useMutation({
    mutationFn: () => traceAsJsonl(run.id, setProgress),
    onSuccess: blob => saveBlob(blob, `agent-run-${run.id}.jsonl`),
  })
  const label = download.isPending
    ? `${plural(progress, 'entry', 'entries')}…`
    : download.error
      ? visible(download.error.message)
      : 'Download as JSON lines'
  return (
    <IconButton label={label} busy={download.isPending} onClick={() => download.mutate()}>
      <Download className={`size-4 ${download.error ? 'text-bad' : ''}`} />
    </IconButton>
  )
}
