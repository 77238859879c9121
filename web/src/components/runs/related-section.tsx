import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import { ChevronRight } from 'lucide-react'
import { useState } from 'react'
import type { RelatedRun } from '../../../../src/contract/runs/related-runs.ts'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { relatedQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { StatusPill } from './status-pill.tsx'

/**
 * The runs that are related to a run as a tree: its parent, and the runs that it started. Nothing while there
 * are none.
 */
export function RelatedSection({ run }: { run: AgentRun }) {
  const { data } = useQuery(relatedQuery(run.id, `${run.status} ${run.total_logs}`))
  if (data === undefined || data.total === 0) return null
  const parents = data.items.filter(({ relation }) => relation === 'parent')
  const started = data.items.filter(({ relation }) => relation !== 'parent')
  return (
    <section aria-label="Related runs">
      <h2 className="mb-1 text-faint text-xs">Related runs</h2>
      <ul className="text-xs">
        {parents.map(parent => (
          <RunNode key={parent.id} run={parent} note="parent" leaf />
        ))}
        <li className={parents.length > 0 ? nested : ''}>
          {parents.length > 0 && <span className="flex min-h-6 items-center font-medium">This run</span>}
          <RunNodes runs={started} className={parents.length > 0 ? nested : ''} />
        </li>
      </ul>
      {data.total > data.items.length && (
        <p className="mt-1 text-faint text-xs">{data.total - data.items.length} more</p>
      )}
    </section>
  )
}

const nested = 'ml-2.5 border-line border-l pl-2'

const RunNodes = ({ runs, className }: { runs: RelatedRun[]; className: string }) => (
  <ul className={className}>
    {runs.map(run => (
      <RunNode key={run.id} run={run} note={run.relation} leaf={run.relation === 'analysis'} />
    ))}
  </ul>
)

/** A run, and on request those that it started. `leaf`: these are not shown. */
function RunNode({ run, note, leaf }: { run: AgentRun; note: string; leaf: boolean }) {
  const [open, setOpen] = useState(false)
  return (
    <li>
      <div className="flex min-h-6 items-center gap-1.5">
        {leaf ? (
          <span className="w-6 shrink-0" />
        ) : (
          <button
            type="button"
            aria-expanded={open}
            aria-label={`Runs that run ${run.id} started`}
            onClick={() => setOpen(!open)}
            className="flex size-6 shrink-0 items-center justify-center rounded text-faint hover:bg-hover"
          >
            <ChevronRight aria-hidden className={`size-3.5 ${open ? 'rotate-90' : ''}`} />
          </button>
        )}
        <span className="shrink-0 text-faint">{note}</span>
        <Link
          to="/agent/trace/$id"
          params={{ id: String(run.id) }}
          className="inline-flex min-h-6 min-w-0 items-center gap-1 text-accent hover:underline"
        >
          <bdi className="shrink-0">#{run.id}</bdi> <bdi className="truncate">{visible(run.title)}</bdi>
        </Link>
        <StatusPill run={run} detailed={run.status_reason !== null} />
      </div>
      {open && <StartedBy id={run.id} />}
    </li>
  )
}

function StartedBy({ id }: { id: number }) {
  const { data } = useQuery(relatedQuery(id, ''))
  const started = data?.items.filter(({ relation }) => relation !== 'parent') ?? []
  if (data && started.length === 0) return <p className={`${nested} text-faint`}>None</p>
  return <RunNodes runs={started} className={nested} />
}
