import { useQuery } from '@tanstack/react-query'
import { Link } from '@tanstack/react-router'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { relatedQuery } from '../../api/queries.ts'
import { visible } from '../../text/visible.ts'
import { StatusPill } from './status-pill.tsx'

/** The runs that are related to a run: links of its trace end with its turn. Nothing while there are none. */
export function RelatedSection({ run }: { run: AgentRun }) {
  const { data } = useQuery(relatedQuery(run.id, `${run.status} ${run.total_logs}`))
  if (data === undefined || data.total === 0) return null
  return (
    <section aria-label="Related runs" className="border-line border-t p-4">
      <h3 className="text-muted text-xs">Related runs</h3>
      <ul className="mt-1 space-y-1 text-xs">
        {data.items.map(related => (
          <li key={related.id} className="flex items-center gap-2">
            <span className="w-14 shrink-0 text-faint">{related.relation}</span>
            <Link to="/agent/trace/$id" params={{ id: String(related.id) }} className="min-w-0 truncate text-accent hover:underline">
              <bdi>#{related.id}</bdi> <bdi>{visible(related.title)}</bdi>
            </Link>
            <StatusPill run={related} />
          </li>
        ))}
      </ul>
      {data.total > data.items.length && <p className="mt-1 text-faint text-xs">{data.total - data.items.length} more</p>}
    </section>
  )
}
