import { useQueryClient } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { CircleCheck, CircleX, LoaderCircle, RotateCw } from 'lucide-react'
import { useEffect, useState } from 'react'
import type { LogEntry } from '../../../../src/contract/runs/logs.ts'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { environmentsQuery } from '../../api/queries.ts'
import { duration } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { textAt } from '../../trace/fields.ts'
import { foundSetupOf } from '../../trace/setup/found-setup.ts'
import {
  hasFailed,
  isCommand,
  lineOf,
  reusedFrom,
  type SetupProgress,
} from '../../trace/setup/setup-progress.ts'
import { Button } from '../../ui/button.tsx'
import { Loading, Notice } from '../../ui/notice.tsx'
import { Terminal } from '../entries/terminal.tsx'
import { AnsiText } from '../plain-text.tsx'
import FoundSetup from '../runs/found-setup.tsx'
import { StatusPill } from '../runs/status-pill.tsx'
import { useSetupProgress } from './use-setup-progress.ts'

type Props = {
  id: number
  repo_id: number
  /**
   * Offered after a run that reused an environment: discards it and executes the commands. Null: this person
   * may not.
   */
  rebuild: (() => void) | null
}

/**
 * The setup commands of a run and their output, live while it runs, and its result. Nothing for a run of
 * another repository.
 */
export function SetupOutput({ id, repo_id, rebuild }: Props) {
  const { progress, problem } = useSetupProgress(id)
  const { run, entries, running } = progress
  const queries = useQueryClient()
  const ended = run?.terminal === true
  useEffect(() => {
    // A detection may have saved its commands, and a dry run an environment.
    if (!ended) return
    void queries.invalidateQueries({ queryKey: ['setup-commands', repo_id] })
    void queries.invalidateQueries({ queryKey: environmentsQuery(repo_id).queryKey })
  }, [ended, repo_id, queries])
  if (problem) return <Notice tone="bad">{visible(problem.message)}</Notice>
  if (!run) return <Loading label="Loading the run" />
  if (run.repo_id !== repo_id) return null
  return (
    <section aria-label="Output" className="overflow-hidden rounded-lg border border-line bg-surface">
      <div className="flex flex-wrap items-center gap-2 border-line border-b px-3 py-2">
        <span className="font-medium">{run.source_type === 'SETUP_COMMANDS' ? 'Detection' : 'Dry run'}</span>
        <StatusPill run={run} detailed />
        <Link
          to="/agent/trace/$id"
          params={{ id: String(run.id) }}
          className="ml-auto text-accent hover:underline"
        >
          Run #{run.id}
        </Link>
      </div>
      <ul>
        {entries.map(entry => (
          <SetupStep key={entry.seq} entry={entry} />
        ))}
        {running && <Running {...running} />}
      </ul>
      {run.terminal && (
        <div className="space-y-3 p-3">
          <Outcome run={run} entries={entries} rebuild={rebuild} />
        </div>
      )}
    </section>
  )
}

const step_style = 'border-line border-b px-3 py-1.5 last:border-b-0'
const line_style = 'flex min-h-6 items-center gap-2'

function SetupStep({ entry }: { entry: LogEntry }) {
  const failed = hasFailed(entry)
  const [open, setOpen] = useState(failed)
  const command = isCommand(entry)
  const Icon = failed ? CircleX : CircleCheck
  return (
    <li className={step_style}>
      <div className={line_style}>
        <Icon
          aria-label={failed ? 'Failed' : 'Succeeded'}
          className={`size-4 shrink-0 ${failed ? 'text-bad' : 'text-ok'}`}
        />
        <span className={`min-w-0 flex-1 truncate ${command ? 'font-mono text-xs' : ''}`}>
          {visible(lineOf(entry))}
        </span>
        {command && entry.duration_ms !== null && (
          <span className="tabular shrink-0 text-2xs text-faint">{duration(entry.duration_ms)}</span>
        )}
      </div>
      {command && (
        <Terminal
          text={textAt(entry.tool_output, 'output') ?? ''}
          open={open}
          on_toggle={() => setOpen(!open)}
        />
      )}
    </li>
  )
}

const Running = ({ command, output }: NonNullable<SetupProgress['running']>) => (
  <li className={step_style}>
    <div className={line_style}>
      <LoaderCircle aria-label="Running" className="size-4 shrink-0 animate-spin text-accent" />
      <span className="min-w-0 flex-1 truncate font-mono text-xs">{visible(command ?? 'A command')}</span>
    </div>
    {output !== '' && (
      <pre className="whitespace-pre-wrap rounded-md border border-line bg-sunken px-3 py-2 font-mono text-xs [overflow-wrap:anywhere]">
        <AnsiText text={output.split('\n').slice(-14).join('\n')} />
      </pre>
    )}
  </li>
)

/** How the run ended: the commands that were detected, or whether the sandbox was prepared. */
function Outcome({
  run,
  entries,
  rebuild,
}: {
  run: AgentRun
  entries: LogEntry[]
  rebuild: Props['rebuild']
}) {
  const found = foundSetupOf(run)
  if (found) return <FoundSetup run={run} found={found} />
  if (run.status === 'failed')
    return <Notice tone="bad">{visible(run.error?.message ?? 'The run failed.')}</Notice>
  if (run.status !== 'completed')
    return <Notice tone="warn">The run was stopped before its setup ended.</Notice>
  const source = reusedFrom(entries)
  if (entries.some(hasFailed))
    return <Notice tone="warn">A command failed. An agent would start nevertheless, and be informed.</Notice>
  if (source === null) return <Notice>The sandbox was prepared without an error.</Notice>
  return (
    <>
      <Notice>
        The sandbox was prepared from the environment of run #{source}, without executing the commands.
      </Notice>
      {rebuild && (
        <Button
          hint="Discards the environments of this repository; later runs reuse the new one"
          onClick={rebuild}
        >
          <RotateCw aria-hidden className="size-3.5" /> Execute the commands
        </Button>
      )}
    </>
  )
}
