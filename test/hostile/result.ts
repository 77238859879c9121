import { writeFileSync } from 'node:fs'
import type { Campaign } from './campaign.ts'
import type { Measurement } from './watched-service.ts'

const MIB = 1024 ** 2
const inMiB = (bytes: number) => Math.round(bytes / MIB)

type Result = { name: string; seed: number; soak: boolean; taken: Measurement[]; campaign: Campaign }

/** Prints the result of a campaign; that of a soak is also written to docs/hostile-requests.json. */
export function keepResult({ name, seed, soak, taken, campaign }: Result): void {
  const { sent, probes, missed, statuses, failures, unfinished } = campaign
  const measured = taken.map(
    ({ rss, heap, external, descriptors, event_loops, connections, longest_stall_ms }) => ({
      resident_mib: inMiB(rss),
      heap_mib: inMiB(heap),
      external_mib: inMiB(external),
      descriptors,
      event_loops,
      database_connections: connections,
      longest_stall_cpu_ms: Math.round(longest_stall_ms),
    }),
  )
  const date = new Date().toISOString().slice(0, 10)
  const health = { probes: probes(), missed: missed() }
  const summary = {
    name,
    seed,
    date,
    sent: sent(),
    health,
    statuses,
    server_errors: failures,
    unfinished,
    measured,
  }
  process.stdout.write(`hostile requests: ${JSON.stringify(summary)}\n`)
  if (!soak) return
  writeFileSync(
    new URL('../../docs/hostile-requests.json', import.meta.url),
    `${JSON.stringify(summary, null, 2)}\n`,
  )
}
