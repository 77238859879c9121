import { writeFileSync } from 'node:fs'
import type { Fault } from './killer.ts'

type Result = {
  seed: number
  soak: boolean
  runs: number
  steps: number
  faults: Fault[]
  resumed: { n: number; median_ms: number; p95_ms: number } | undefined
}

/** Prints the result of a run of the harness; a soak run also writes it to docs/chaos.json. */
export function keepResult({ faults, resumed, ...result }: Result): void {
  const counted = Object.fromEntries(
    [...Map.groupBy(faults, ({ role, fault }) => `${fault} (${role})`)]
      .map(([name, list]) => [name, list.length] as const)
      .sort(),
  )
  const after_lease = resumed && {
    runs: resumed.n,
    median_ms: Math.round(resumed.median_ms),
    p95_ms: Math.round(resumed.p95_ms),
  }
  const summary = {
    ...result,
    date: new Date().toISOString().slice(0, 10),
    faults: faults.length,
    by_kind: counted,
    resumed_after_lease_end: after_lease,
  }
  process.stdout.write(`chaos: ${JSON.stringify(summary)}\n`)
  if (result.soak)
    writeFileSync(new URL('../../docs/chaos.json', import.meta.url), `${JSON.stringify(summary, null, 2)}\n`)
}
