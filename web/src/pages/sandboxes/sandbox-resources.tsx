import type { Sandbox } from '../../../../src/contract/repositories/sandboxes.ts'
import { duration, plural } from '../../text/format.ts'
import { Meter } from '../../ui/meter.tsx'
import { mebibytes } from './sandbox-text.ts'

/** What a sandbox used at most, beside its limits. */
export function SandboxResources({ sandbox: { limits, peaks } }: { sandbox: Sandbox }) {
  const count = (value: number | null) => (value === null ? '–' : value.toLocaleString('en'))
  return (
    <section aria-label="Resources" className="rounded-lg border border-line bg-surface px-3.5 py-3">
      <h2 className="mb-1.5 text-muted text-xs">Peak usage</h2>
      <ul className="space-y-2.5">
        <Resource
          name="Memory"
          used={mebibytes(peaks.memory_bytes)}
          limit={`of ${mebibytes(limits.memory_bytes)}`}
          share={shareOf(peaks.memory_bytes, limits.memory_bytes)}
        />
        <Resource
          name="Disk"
          used={mebibytes(peaks.disk_bytes)}
          limit={`of ${mebibytes(limits.disk_bytes)}`}
          share={shareOf(peaks.disk_bytes, limits.disk_bytes)}
        />
        <Resource
          name="Processes"
          used={count(peaks.processes)}
          limit={`of ${count(limits.processes)}`}
          share={shareOf(peaks.processes, limits.processes)}
        />
        <Resource
          name="CPU time"
          used={peaks.cpu_ms === null ? '–' : duration(peaks.cpu_ms)}
          limit={`on ${plural(limits.cpus, 'processor')}`}
          share={null}
        />
      </ul>
      {peaks.memory_kills !== null && peaks.memory_kills > 0 && (
        <p className="mt-2 text-bad text-xs">
          {plural(peaks.memory_kills, 'process', 'processes')} killed because its memory was used up
        </p>
      )}
    </section>
  )
}

const shareOf = (used: number | null, limit: number) => (used === null ? null : used / limit)

type Props = { name: string; used: string; limit: string; share: number | null }

const Resource = ({ name, used, limit, share }: Props) => (
  <li>
    <div className="flex items-baseline justify-between gap-2">
      <span>{name}</span>
      <span className="tabular text-xs">
        {used} <span className="text-faint">{limit}</span>
      </span>
    </div>
    {share !== null && <Meter label={`${name}, share of the limit`} share={share} />}
  </li>
)
