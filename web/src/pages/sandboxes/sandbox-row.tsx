import { Link } from '@tanstack/react-router'
import type { Sandbox } from '../../../../src/contract/repositories/sandboxes.ts'
import { duration } from '../../text/format.ts'
import { visible } from '../../text/visible.ts'
import { Badge } from '../../ui/badge.tsx'
import { Created, ListHead, rowStyle } from '../list-row.tsx'
import { Metric } from '../metric.tsx'

const columns = 'md:grid-cols-[5rem_minmax(0,1fr)_26rem]'
const metrics = 'grid grid-cols-[1fr_1fr_1fr_1fr_5rem] items-center gap-2 text-right'
const tones: Record<Sandbox['state'], string> = { starting: 'text-accent', running: 'text-accent', ended: 'text-muted', lost: 'text-bad' }

export const SandboxRowHead = () => (
  <ListHead
    columns={columns}
    names={['State', 'Sandbox']}
    metrics={metrics}
    metric_names={['Uptime', 'Memory', 'Disk', 'CPU', 'Created']}
  />
)

/** One sandbox of the list. The whole row links to its first entry in the trace. */
export function SandboxRow({ sandbox, now }: { sandbox: Sandbox; now: number }) {
  const { id, agent_run_id, kind, state, end_reason, peaks, limits, started_at, ended_at, created_at, first_seq } = sandbox
  const there = started_at === null ? null : (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at)
  const why = end_reason === null || end_reason === 'stopped' ? null : end_reason.replace('_', ' ')
  return (
    <li data-sandbox-id={id} className={`${rowStyle} ${columns}`}>
      <span className={`font-medium text-xs ${tones[state]}`} title={why ?? undefined}>
        {state}
      </span>
      <span className="flex min-w-0 items-center gap-2">
        <Link
          to="/agent/trace/$id"
          params={{ id: String(agent_run_id) }}
          hash={`e${first_seq}`}
          className="truncate font-medium text-ink after:absolute after:inset-0"
        >
          Run {agent_run_id}
        </Link>
        <Badge>{kind}</Badge>
        <span className="truncate text-2xs text-faint">
          sandbox {id} · {visible(sandbox.driver)} on {visible(sandbox.host)}
          {why !== null && ` · ${why}`}
        </span>
      </span>
      <dl className={`tabular text-xs max-md:col-span-2 ${metrics}`}>
        <Metric name="Uptime">{there === null ? '–' : duration(Math.max(0, there))}</Metric>
        <Metric name={`Peak memory of ${mebibytes(limits.memory_bytes)}`}>
          <span className={peaks.memory_kills ? 'text-bad' : ''}>{mebibytes(peaks.memory_bytes)}</span>
        </Metric>
        <Metric name={`Peak disk usage of ${mebibytes(limits.disk_bytes)}`}>{mebibytes(peaks.disk_bytes)}</Metric>
        <Metric name="CPU time">{peaks.cpu_ms === null ? '–' : duration(peaks.cpu_ms)}</Metric>
        <Created at={created_at} now={now} />
      </dl>
    </li>
  )
}

const mebibytes = (bytes: number | null) => (bytes === null ? '–' : `${Math.ceil(bytes / 1024 ** 2).toLocaleString('en')} MiB`)
