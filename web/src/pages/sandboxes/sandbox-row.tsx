import { Link } from '@tanstack/react-router'
import { SquareTerminal } from 'lucide-react'
import type { Sandbox } from '../../../../src/contract/repositories/sandboxes.ts'
import { Created, ListHead, rowStyle } from '../../components/list-row.tsx'
import { Metric } from '../../components/metric.tsx'
import { duration } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { endReasons, mebibytes, stateTones, uptime } from './sandbox-text.ts'

const columns = 'md:grid-cols-[5rem_minmax(0,1fr)_5rem_26rem]'
const metrics = 'grid grid-cols-[1fr_1fr_1fr_1fr_5rem] items-center gap-2 text-right'

export const SandboxRowHead = () => (
  <ListHead
    columns={columns}
    names={['State', 'Sandbox', 'Run']}
    metrics={metrics}
    metric_names={['Uptime', 'Memory', 'Disk', 'CPU', 'Created']}
  />
)

/** One sandbox of the list. The whole row links to its page. */
export function SandboxRow({ sandbox, now }: { sandbox: Sandbox; now: number }) {
  const { id, agent_run_id, kind, state, end_reason, peaks, limits, created_at } = sandbox
  const there = uptime(sandbox, now)
  const why = end_reason === null || end_reason === 'stopped' ? null : endReasons[end_reason]
  return (
    <li data-sandbox-id={id} className={`${rowStyle} ${columns}`}>
      <span className={`font-medium text-xs max-md:col-start-2 max-md:row-start-1 ${stateTones[state]}`}>
        {state}
      </span>
      <span className="flex min-w-0 items-center gap-2 max-md:col-start-1 max-md:row-start-1">
        <Link
          to="/sandboxes/$sandboxId"
          params={{ sandboxId: String(id) }}
          className="shrink-0 font-medium text-ink after:absolute after:inset-0"
        >
          Sandbox {id}
        </Link>
        <Badge>{kind}</Badge>
        <span className="truncate text-2xs text-faint">
          {visible(sandbox.driver)} on {visible(sandbox.host)}
          {why !== null && ` · ${why}`}
        </span>
      </span>
      <span className="text-xs max-md:col-span-2">
        <Link
          to="/agent/trace/$id"
          params={{ id: String(agent_run_id) }}
          hash={`e${sandbox.first_seq}`}
          className="tabular relative z-10 inline-flex min-h-6 items-center gap-1 rounded-sm text-muted hover:text-ink hover:underline"
        >
          <SquareTerminal aria-hidden className="size-3 text-faint" />
          <span className="sr-only">Run </span>#{agent_run_id}
        </Link>
      </span>
      <dl className={`tabular text-xs max-md:col-span-2 max-md:items-end ${metrics}`}>
        <Metric name="Uptime" column="Uptime">
          {there === null ? '–' : duration(there)}
        </Metric>
        <Metric name={`Peak memory of ${mebibytes(limits.memory_bytes)}`} column="Memory">
          <span className={peaks.memory_kills ? 'text-bad' : ''}>{mebibytes(peaks.memory_bytes)}</span>
        </Metric>
        <Metric name={`Peak disk usage of ${mebibytes(limits.disk_bytes)}`} column="Disk">
          {mebibytes(peaks.disk_bytes)}
        </Metric>
        <Metric name="CPU time" column="CPU">
          {peaks.cpu_ms === null ? '–' : duration(peaks.cpu_ms)}
        </Metric>
        <Created at={created_at} now={now} />
      </dl>
    </li>
  )
}
