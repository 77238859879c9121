import { useQuery } from '@tanstack/react-query'
import { Ellipsis } from 'lucide-react'
import { lazy, Suspense, useState } from 'react'
import type { AgentRun } from '../../../../../src/contract/runs/runs.ts'
import { repositoriesQuery } from '../../../api/queries.ts'
import type { StreamState } from '../../../api/visible-tab-stream.ts'
import { visible } from '../../../text/visible.ts'
import { Button, buttonStyle } from '../../../ui/button.tsx'
import { IconButton } from '../../../ui/icon-button.tsx'
import { useMedia } from '../../../ui/media.ts'
import { DeferredMenu } from '../../deferred-menu.tsx'
import { useOfferedCommands } from '../../frame/page-commands.ts'
import { useReadOnlyReason } from '../../permission.ts'
import { ConnectionNote } from '../../trace/connection-note.tsx'
import { isIncomplete } from '../run-numbers.ts'
import { StatusPill } from '../status-pill.tsx'
import { RunFacts } from './run-facts.tsx'
import { RunTitle } from './run-title.tsx'
import { type Dialogs, type RunCommand, useRunCommands } from './use-run-commands.tsx'

const RunRemedy = lazy(() => import('../remedies/run-remedy.tsx').catch(() => ({ default: () => null })))
const loadRunMenu = () => import('./run-menu.tsx')
const RunMenu = lazy(() => loadRunMenu().catch(() => ({ default: () => null })))
const RunDialogs = lazy(() => import('./run-dialogs.tsx').catch(() => ({ default: () => null })))

const menu_button = {
  label: 'Actions of the run',
  className: buttonStyle('quiet', 'w-7 shrink-0 px-0! max-sm:h-9 max-sm:w-9'),
  trigger: <Ellipsis aria-hidden className="size-4" />,
}

const mayNeedRemedy = (run: AgentRun) =>
  ['waiting', 'paused', 'failed'].includes(run.status) || isIncomplete(run)

type Props = { run: AgentRun; stream: StreamState; link: () => string }

/** The title and state of a run, and the actions on it: on a phone in a menu. */
export function RunHeader({ run, stream, link }: Props) {
  const forbidden = useReadOnlyReason()
  // Undefined: no panel was opened yet.
  const [dialog, setDialog] = useState<Dialogs | null>()
  const { main, icons, more, failure } = useRunCommands(run, link, setDialog)
  useOfferedCommands([...main, ...icons, ...more].filter(({ reason, busy }) => !reason && !busy))
  const phone = useMedia('(max-width: 40rem)')
  const repository = useQuery(repositoriesQuery).data?.find(({ id }) => id === run.repo_id)
  const remedy = mayNeedRemedy(run) && (
    <Suspense>
      <RunRemedy run={run} row={phone} />
    </Suspense>
  )
  const menu = (
    <DeferredMenu {...menu_button} load={loadRunMenu}>
      <RunMenu commands={phone ? [...main, ...icons, ...more] : more} button={menu_button} />
    </DeferredMenu>
  )
  return (
    <header className="shrink-0 border-line border-b bg-surface px-3 py-2">
      <div className="flex items-center gap-2">
        <div className="min-w-0 flex-1">
          <RunTitle run={run} forbidden={forbidden} />
        </div>
        {!phone && remedy}
        {!phone && <RunButtons main={main} icons={icons} />}
        {!phone && menu}
      </div>
      <div className="mt-1 flex items-start gap-2">
        <div className="flex min-w-0 flex-1 flex-wrap items-center gap-x-3 gap-y-1 text-muted text-xs">
          <StatusPill run={run} detailed />
          <RunFacts run={run} repository={repository?.full_name ?? null} live={stream.name === 'live'} />
          <ConnectionNote state={stream} />
          {failure && (
            <span role="alert" className="text-bad">
              {visible(failure.message)}
            </span>
          )}
        </div>
        {phone && menu}
      </div>
      {phone && remedy}
      <Suspense>
        {dialog !== undefined && <RunDialogs run={run} dialog={dialog} on_close={() => setDialog(null)} />}
      </Suspense>
    </header>
  )
}

const RunButtons = ({ main, icons }: { main: RunCommand[]; icons: RunCommand[] }) => (
  <>
    {main.map(({ label, icon, reason, busy, danger, start }) => (
      <Button
        key={label}
        variant={danger ? 'danger' : 'plain'}
        reason={reason}
        busy={busy}
        onClick={start}
        className="[&>svg]:size-3"
      >
        {icon} {label}
      </Button>
    ))}
    {icons.map(({ label, icon, reason, busy, start }) => (
      <IconButton
        key={label}
        label={label}
        reason={reason}
        busy={busy}
        onClick={start}
        className="[&>svg]:size-4"
      >
        {icon}
      </IconButton>
    ))}
  </>
)
