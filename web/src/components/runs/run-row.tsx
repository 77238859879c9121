import { Link } from '@tanstack/react-router'
import { GitBranch, GitPullRequest } from 'lucide-react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { compact, duration, money } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { Created, ListHead, rowStyle } from '../list-row.tsx'
import { Metric } from '../metric.tsx'
import { ModelBadge } from './model-badge.tsx'
import { elapsed, tokens } from './run-numbers.ts'
import { StatusPill } from './status-pill.tsx'

const columns = 'md:grid-cols-[8.5rem_minmax(0,1fr)_17rem]'
const metrics = 'grid grid-cols-[1fr_1fr_1fr_5rem] items-center gap-2 text-right'

export const RunRowHead = () => (
  <ListHead columns={columns} names={['Status', 'Run']} metrics={metrics} metric_names={['Active', 'Tokens', 'Cost', 'Created']} />
)

/** One run of the list. The whole row links to its trace. */
export function RunRow({ run, repository, now }: { run: AgentRun; repository: string | null; now: number }) {
  const time = elapsed(run, now)
  const used = tokens(run)
  return (
    <li data-run-id={run.id} className={`${rowStyle} ${columns}`}>
      <div className="max-md:col-start-2 max-md:row-start-1">
        <StatusPill run={run} />
      </div>
      <div className="min-w-0 max-md:col-start-1 max-md:row-start-1">
        <div className="flex min-w-0 items-center gap-2">
          <Link
            to="/agent/trace/$id"
            params={{ id: String(run.id) }}
            className="truncate font-medium text-ink after:absolute after:inset-0"
            title={visible(run.title)}
          >
            {visible(run.title)}
          </Link>
          <span className="flex shrink-0 gap-1 max-lg:hidden">
            {run.tags.slice(0, 3).map(tag => (
              <Link
                key={tag}
                to="/"
                search={previous => ({ ...previous, tag })}
                title={`Runs with the tag ${visible(tag)}`}
                className="relative z-10 inline-flex min-h-6 items-center rounded-full"
              >
                <Badge className="max-w-40 hover:border-strong">
                  <span className="truncate">{visible(tag)}</span>
                </Badge>
              </Link>
            ))}
            {run.tags.length > 3 && <Badge>+{run.tags.length - 3}</Badge>}
          </span>
        </div>
        <div className="flex min-w-0 items-center gap-x-2.5 text-faint text-xs">
          <span className="tabular shrink-0">#{run.id}</span>
          {repository && <span className="truncate">{visible(repository)}</span>}
          <Source run={run} />
          <span className="shrink-0 max-sm:hidden">
            <ModelBadge model={run.model} />
          </span>
        </div>
      </div>
      <dl className={`tabular text-muted text-xs max-md:col-span-2 max-md:flex max-md:text-left ${metrics}`}>
        <Metric name="Active time">{time === null ? '–' : duration(time)}</Metric>
        <Metric name="Tokens">{used === 0 ? '–' : compact(used)}</Metric>
        <Metric name="Cost">{run.usage.cost_usd === null ? '–' : money(run.usage.cost_usd)}</Metric>
        <Created at={run.created_at} now={now} />
      </dl>
    </li>
  )
}

function Source({ run }: { run: AgentRun }) {
  const pull_request = run.github_pull_requests.at(-1)
  const name = run.branch ?? run.base_ref
  if (pull_request) {
    return (
      <span className="flex min-w-0 items-center gap-1">
        <GitPullRequest aria-hidden className="size-3 shrink-0" />
        <span className="truncate">
          #{pull_request.number} {pull_request.state}
        </span>
        <span className="tabular shrink-0 max-sm:hidden">
          <span className="text-ok">+{pull_request.additions}</span> <span className="text-bad">−{pull_request.deletions}</span>
        </span>
      </span>
    )
  }
  if (!name) return null
  return (
    <span className="flex min-w-0 items-center gap-1">
      <GitBranch aria-hidden className="size-3 shrink-0" />
      <span className="truncate font-mono text-2xs">{visible(name)}</span>
    </span>
  )
}
