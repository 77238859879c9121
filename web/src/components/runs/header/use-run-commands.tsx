import { useMutation } from '@tanstack/react-query'
import {
  Archive,
  ArchiveRestore,
  Download,
  GitCompareArrows,
  Link2,
  Pause,
  Square,
  Stethoscope,
  Trash2,
} from 'lucide-react'
import type { ReactNode } from 'react'
import type { AgentRun } from '../../../../../src/contract/runs/runs.ts'
import { plural } from '../../../text/format.ts'
import { traceAsJsonl } from '../../../trace/download.ts'
import { isRecorded } from '../../../trace/recorded.ts'
import { copyText } from '../../../ui/copy.ts'
import { saveBlob } from '../../../ui/save-blob.ts'
import { notify } from '../../../ui/toast.ts'
import { useReadOnlyReason } from '../../permission.ts'
import { useRunActions } from '../run-actions.ts'

export type RunCommand = {
  label: string
  icon: ReactNode
  /** Why it cannot be chosen. */
  reason: string | null
  busy?: boolean
  danger?: boolean
  start: () => void
}

export type Dialogs = 'analyze' | 'compare' | 'delete'

/**
 * What a person can do with a run: `main` are buttons with words, `icons` buttons with an icon, `more` items
 * of a menu. `failure`: of the last action. `open` opens a dialog.
 */
export function useRunCommands(run: AgentRun, link: () => string, open: (dialog: Dialogs) => void) {
  const forbidden = useReadOnlyReason()
  const { stop, pause, archive } = useRunActions(run)
  const unstoppable = run.status === 'cancelling' ? 'The run is being stopped' : null
  const active: RunCommand[] = [
    {
      label: 'Pause',
      icon: <Pause className="fill-current" />,
      reason: forbidden ?? unstoppable ?? unpausable(run),
      busy: pause.isPending,
      start: () => pause.mutate(),
    },
    {
      label: 'Stop',
      icon: <Square className="fill-current" />,
      reason: forbidden ?? unstoppable,
      danger: true,
      busy: stop.isPending,
      start: () => stop.mutate(),
    },
  ]
  const icons: RunCommand[] = [
    {
      label: 'Analyze logs',
      icon: <Stethoscope />,
      reason: forbidden ?? unanalyzable(run),
      start: () => open('analyze'),
    },
    {
      label: run.archived ? 'Unarchive' : 'Archive',
      icon: run.archived ? <ArchiveRestore /> : <Archive />,
      reason: forbidden,
      busy: archive.isPending,
      start: () => archive.mutate(!run.archived),
    },
    { label: 'Copy link', icon: <Link2 />, reason: null, start: () => void copyLink(link()) },
    useDownload(run),
  ]
  const more: RunCommand[] = [
    {
      label: 'Compare with another run',
      icon: <GitCompareArrows />,
      reason: null,
      start: () => open('compare'),
    },
    {
      label: 'Delete run',
      icon: <Trash2 />,
      danger: true,
      start: () => open('delete'),
      reason: forbidden ?? (run.terminal ? null : 'Stop the run first'),
    },
  ]
  // What has ended can be neither paused nor stopped.
  return {
    main: run.terminal ? [] : active,
    icons,
    more,
    failure: stop.error ?? pause.error ?? archive.error,
  }
}

const unpausable = (run: AgentRun) =>
  isRecorded(run)
    ? 'This run records a local session and cannot be paused here'
    : run.status === 'paused'
      ? 'The run is paused: continue it below'
      : run.pause_requested_at
        ? 'The run is about to pause'
        : null

const unanalyzable = ({ source_type, started_at }: AgentRun) =>
  source_type === 'LOG_ANALYSIS'
    ? 'This run is an analysis'
    : started_at === null
      ? 'The run has not started yet'
      : null

async function copyLink(link: string): Promise<void> {
  if (await copyText(link)) notify('Copied')
  else notify('The browser refused to copy', 'bad')
}

function useDownload({ id, total_logs }: AgentRun): RunCommand {
  const download = useMutation({
    mutationFn: () => traceAsJsonl(id, () => {}),
    onSuccess: blob => saveBlob(blob, `agent-run-${id}.jsonl`),
    onError: error => notify(error.message, 'bad'),
  })
  return {
    label: download.isPending
      ? `Downloading ${plural(total_logs, 'entry', 'entries')}…`
      : 'Download as JSON lines',
    icon: <Download />,
    reason: null,
    busy: download.isPending,
    start: () => download.mutate(),
  }
}
