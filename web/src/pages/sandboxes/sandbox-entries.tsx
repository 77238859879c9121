import { useInfiniteQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ScrollText } from 'lucide-react'
import type { Sandbox } from '../../../../src/contract/repositories/sandboxes.ts'
import type { LogEntry } from '../../../../src/contract/runs/logs.ts'
import { PagedList } from '../../components/paged-list.tsx'
import { clock } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { entrySummary } from '../../trace/entry-summary.ts'
import { Blank } from '../../ui/notice.tsx'
import { sandboxEntriesQuery } from './sandbox-queries.ts'

/** The trace entries about a sandbox, one per line. Each links to the entry in the trace of the run. */
export function SandboxEntries({ sandbox }: { sandbox: Sandbox }) {
  const entries = useInfiniteQuery(sandboxEntriesQuery(sandbox))
  return (
    <section aria-label="Log" className="min-w-0">
      <h2 className="text-muted text-xs">Log</h2>
      <PagedList
        framed
        list={entries}
        nouns={['entry', 'entries']}
        more="Load later entries"
        empty={<NoneYet />}
      >
        {items => (
          <ul aria-label="Entries, oldest first">
            {items.map(entry => (
              <EntryRow key={entry.seq} entry={entry} run_id={sandbox.agent_run_id} />
            ))}
          </ul>
        )}
      </PagedList>
    </section>
  )
}

const NoneYet = () => (
  <Blank icon={<ScrollText />} title="No entries">
    Nothing in the trace of the run concerns this sandbox.
  </Blank>
)

const tones = {
  neutral: 'text-muted',
  ok: 'text-ok',
  bad: 'text-bad',
  warn: 'text-warn',
  accent: 'text-accent',
} as const

function EntryRow({ entry, run_id }: { entry: LogEntry; run_id: number }) {
  const { label, line, note, tone } = entrySummary(entry)
  return (
    <li className="relative flex items-baseline gap-2.5 border-line border-b px-3 py-1 text-xs last:border-b-0 hover:bg-hover">
      <span className="tabular w-9 shrink-0 text-right text-faint">{entry.seq}</span>
      <Link
        to="/agent/trace/$id"
        params={{ id: String(run_id) }}
        hash={`e${entry.seq}`}
        className={`shrink-0 font-medium after:absolute after:inset-0 ${tones[tone]}`}
      >
        {visible(label)}
      </Link>
      <span className="min-w-0 flex-1 truncate font-mono text-2xs text-muted">{visible(line)}</span>
      {note !== null && <span className={`shrink-0 ${tones[tone]}`}>{visible(note)}</span>}
      <time dateTime={entry.created_at} className="tabular shrink-0 text-faint max-sm:hidden">
        {clock(entry.created_at)}
      </time>
    </li>
  )
}
