import { Link } from '@tanstack/react-router'
import { Check, CornerDownRight, GitBranch, GitFork, GitPullRequest } from 'lucide-react'
import { useState } from 'react'
import type { AgentRun } from '../../../../src/contract/runs/runs.ts'
import { reasonNames, sourceNames } from '../../api/names.ts'
import { compact, duration, money } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { Created, ListHead, rowStyle } from '../list-row.tsx'
import { Metric } from '../metric.tsx'
import { ChecksMark } from '../pull-requests/checks-mark.tsx'
import { ModelBadge } from './model-badge.tsx'
import { activeClock, tokens } from './run-numbers.ts'
import { StatusPill, statusDetail } from './status-pill.tsx'

const columns =
  'md:grid-cols-[8.5rem_minmax(0,1fr)_13rem] lg:grid-cols-[8.5rem_minmax(0,1fr)_10rem_13rem] 2xl:grid-cols-[8.5rem_minmax(0,1fr)_12rem_10rem_13rem]'
const metrics = 'grid grid-cols-[1fr_1fr_4.5rem] items-center gap-2 text-right'

/** Beside the checkboxes of rows that can be selected. */
const selectable_style = 'pl-9'

export const RunRowHead = ({ selectable }: { selectable: boolean }) => (
  <ListHead
    columns={selectable ? `${columns} ${selectable_style}` : columns}
    names={['Status', 'Run', 'Repository', 'Pull request']}
    metrics={metrics}
    metric_names={['Active', 'Cost', 'Created']}
    hidden={{ Repository: 'max-2xl:hidden', 'Pull request': 'max-lg:hidden' }}
  />
)

type Props = {
  run: AgentRun
  repository: string | null
  now: number
  selected: boolean
  on_select: (() => void) | null
}

/** One run of the list. The whole row links to its trace. `on_select` null: rows cannot be selected. */
export function RunRow({ run, repository, now, selected, on_select }: Props) {
  const detail = run.status_reason
    ? reasonNames[run.status_reason]
    : run.status === 'waiting'
      ? statusDetail(run)
      : null
  return (
    <li
      data-run-id={run.id}
      className={`${rowStyle} ${columns} ${on_select ? selectable_style : ''} ${selected ? 'bg-accent/8' : ''}`}
    >
      {on_select && <SelectRow run={run} selected={selected} on_select={on_select} />}
      <div className="min-w-0 max-md:col-start-2 max-md:row-start-1 max-md:text-right">
        <StatusPill run={run} />
        {detail && <div className="truncate text-2xs text-muted">{detail}</div>}
      </div>
      <RunName run={run} repository={repository} />
      <span className="truncate text-muted text-xs max-2xl:hidden">
        {repository ? visible(repository) : <span className="text-faint">–</span>}
      </span>
      <div className="min-w-0 text-xs max-lg:hidden">
        <Proposal run={run} />
      </div>
      <Metrics run={run} now={now} />
    </li>
  )
}

/** At the left edge, over the link of the row. */
const SelectRow = ({
  run,
  selected,
  on_select,
}: {
  run: AgentRun
  selected: boolean
  on_select: () => void
}) => (
  <div className="absolute inset-y-0 left-0 z-10 flex w-8 items-center justify-center">
    <input
      type="checkbox"
      aria-label={`Select run ${run.id}`}
      checked={selected}
      onChange={on_select}
      className="absolute inset-0 size-full cursor-pointer appearance-none focus-visible:outline-offset-[-2px]"
    />
    <span
      aria-hidden
      className={`pointer-events-none flex size-3.5 items-center justify-center rounded-[3px] border ${selected ? 'border-accent bg-accent text-canvas' : 'border-faint bg-surface'}`}
    >
      {selected && <Check className="size-3" strokeWidth={3} />}
    </span>
  </div>
)

function RunName({ run, repository }: { run: AgentRun; repository: string | null }) {
  return (
    <div className="min-w-0 max-md:col-start-1 max-md:row-start-1">
      <div className="flex min-w-0 items-center gap-2">
        <Link
          to="/agent/trace/$id"
          params={{ id: String(run.id) }}
          className="truncate font-medium text-ink after:absolute after:inset-0"
          title={visible(run.title)}
        >
          <bdi>{visible(run.title)}</bdi>
        </Link>
        <Tags tags={run.tags} />
      </div>
      <div className="flex min-w-0 items-center gap-x-2.5 text-faint text-xs">
        <span className="tabular shrink-0">#{run.id}</span>
        {repository && <span className="truncate 2xl:hidden">{visible(repository)}</span>}
        <Origin run={run} />
        <span className="min-w-0 truncate max-sm:hidden">
          <ModelBadge model={run.model} />
        </span>
        <span className="shrink-0 max-xl:hidden">{sourceNames[run.source_type]}</span>
        {run.banned && <span className="shrink-0 text-bad">banned</span>}
      </div>
      {run.github_pull_requests.length > 0 && (
        <div className="text-xs lg:hidden">
          <Proposal run={run} />
        </div>
      )}
    </div>
  )
}

const Tags = ({ tags }: { tags: string[] }) => (
  <span className="flex shrink-0 gap-1 max-lg:hidden">
    {tags.slice(0, 2).map(tag => (
      <Link
        key={tag}
        to="/"
        search={previous => ({ ...previous, tag })}
        title={`Runs with the tag ${visible(tag)}`}
        className="relative z-10 inline-flex min-h-6 items-center rounded-full"
      >
        <Badge className="max-w-32 hover:border-strong">
          <span className="truncate">{visible(tag)}</span>
        </Badge>
      </Link>
    ))}
    {tags.length > 2 && <Badge>+{tags.length - 2}</Badge>}
  </span>
)

/** Of a fork or a child: its parent run. */
function Origin({ run: { parent_run_id, forked_at_seq } }: { run: AgentRun }) {
  if (parent_run_id === null) return null
  const Icon = forked_at_seq === null ? CornerDownRight : GitFork
  return (
    <Link
      to="/agent/trace/$id"
      params={{ id: String(parent_run_id) }}
      title={`Parent run #${parent_run_id}`}
      className="relative z-10 inline-flex min-h-6 shrink-0 items-center gap-1 rounded-sm hover:text-ink hover:underline"
    >
      <Icon aria-hidden className="size-3" /> {forked_at_seq === null ? 'child' : 'fork'} of #{parent_run_id}
    </Link>
  )
}

/** The newest pull request and its checks; without one the branch. */
function Proposal({ run }: { run: AgentRun }) {
  const pull_request = run.github_pull_requests.at(-1)
  const name = run.branch ?? run.base_ref
  if (!pull_request) {
    return (
      <span className="flex min-w-0 items-center gap-1 text-faint">
        {name && <GitBranch aria-hidden className="size-3 shrink-0" />}
        <span className="truncate font-mono text-2xs">{name ? visible(name) : '–'}</span>
      </span>
    )
  }
  return (
    <div className="flex min-w-0 flex-wrap items-center gap-x-2.5">
      <span className="flex min-w-0 items-center gap-1 text-muted">
        <GitPullRequest aria-hidden className="size-3 shrink-0" />
        <Link
          to="/pull-requests/$prId"
          params={{ prId: String(pull_request.id) }}
          className="relative z-10 inline-flex min-h-6 items-center gap-1 rounded-sm hover:text-ink hover:underline"
        >
          <bdi>#{pull_request.number}</bdi> {pull_request.state}
        </Link>
        <span className="tabular shrink-0 text-2xs">
          <span className="text-ok">+{pull_request.additions}</span>{' '}
          <span className="text-bad">−{pull_request.deletions}</span>
        </span>
      </span>
      {run.checks && run.checks.state !== 'none' && <ChecksMark summary={run.checks} />}
    </div>
  )
}

function Metrics({ run, now }: { run: AgentRun; now: number }) {
  const [clock] = useState(activeClock)
  const time = clock(run, now)
  const used = tokens(run)
  return (
    <dl className={`tabular text-muted text-xs max-md:col-span-2 max-md:flex max-md:text-left ${metrics}`}>
      <Metric name="Active time">{time === null ? '–' : duration(time)}</Metric>
      <Metric name={used === 0 ? 'Cost' : `Cost of ${compact(used)} tokens`}>
        {run.usage.cost_usd === null ? '–' : money(run.usage.cost_usd)}
      </Metric>
      <Created at={run.created_at} now={now} />
    </dl>
  )
}
