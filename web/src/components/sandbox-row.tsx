import { Link } from '@tanstack/react-router'
import type { Sandbox } from '../../../src/contract/sandboxes.ts'
import { ago, duration, moment } from '../text/format.ts'
import { visible } from '../text/visible.ts'
import { Badge } from '../ui/badge.tsx'
import { Figure } from './figure.tsx'

const columns = 'md:grid-cols-[5rem_minmax(0,1fr)_26rem]'
const figures = 'grid grid-cols-[1fr_1fr_1fr_1fr_5rem] items-center gap-2 text-right'
const tones: Record<Sandbox['state'], string> = { starting: 'text-accent', running: 'text-accent', ended: 'text-muted', lost: 'text-bad' }

/** Names of the columns; on narrow screens there are none. */
export const SandboxRowHead = () => (
  <div aria-hidden className={`grid gap-x-4 border-line border-b px-4 py-1.5 text-2xs text-faint max-md:hidden ${columns}`}>
    <span>State</span>
    <span>Sandbox</span>
    <span className={figures}>
      <span>There for</span>
      <span>Memory</span>
      <span>Disk</span>
      <span>CPU</span>
      <span>Created</span>
    </span>
  </div>
)

/** One sandbox of the list. The whole row leads to where its entries begin in the trace. */
export function SandboxRow({ sandbox, now }: { sandbox: Sandbox; now: number }) {
  const { id, agent_run_id, kind, state, end_reason, peaks, limits, started_at, ended_at, created_at, first_seq } = sandbox
  const there = started_at === null ? null : (ended_at === null ? now : Date.parse(ended_at)) - Date.parse(started_at)
  const why = end_reason === null || end_reason === 'stopped' ? null : end_reason.replace('_', ' ')
  return (
    <li
      data-sandbox-id={id}
      className={`relative grid grid-cols-[minmax(0,1fr)_auto] items-center gap-x-4 gap-y-1 border-line border-b px-4 py-2 transition-colors last:border-b-0 hover:bg-hover ${columns}`}
    >
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
      <dl className={`tabular text-xs max-md:col-span-2 ${figures}`}>
        <Figure name="There for">{there === null ? '–' : duration(Math.max(0, there))}</Figure>
        <Figure name={`Memory at most, of ${mebibytes(limits.memory_bytes)}`}>
          <span className={peaks.memory_kills ? 'text-bad' : ''}>{mebibytes(peaks.memory_bytes)}</span>
        </Figure>
        <Figure name={`Disk at most, of ${mebibytes(limits.disk_bytes)}`}>{mebibytes(peaks.disk_bytes)}</Figure>
        <Figure name="Processors">{peaks.cpu_ms === null ? '–' : duration(peaks.cpu_ms)}</Figure>
        <Figure name="Created">
          <time dateTime={created_at} title={moment(created_at)} className="text-faint">
            {ago(created_at, now)}
          </time>
        </Figure>
      </dl>
    </li>
  )
}

const mebibytes = (bytes: number | null) => (bytes === null ? '–' : `${Math.ceil(bytes / 1024 ** 2).toLocaleString('en')} MiB`)
