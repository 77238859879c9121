export type Rate = { per_second: number /** Milliseconds of every call. */; times: number[] }

/** How often `workers` loops, each one call after the other, get `work` done in `seconds`; a loop whose work answers false ends early. */
export async function rateOf(workers: number, seconds: number, work: (worker: number) => Promise<unknown>): Promise<Rate> {
  const times: number[] = []
  const started = performance.now()
  const end = started + seconds * 1_000
  await Promise.all(
    Array.from({ length: workers }, async (_, worker) => {
      for (let before = performance.now(); before < end; ) {
        const more = await work(worker)
        const after = performance.now()
        if (more === false) return
        times.push(after - before)
        before = after
      }
    }),
  )
  return { per_second: times.length / ((performance.now() - started) / 1_000), times }
}

export function quantile(values: number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}

export const median = (values: number[]) => quantile(values, 0.5)

const fixed = (value: number, width = 8) => (value >= 100 ? value.toFixed(0) : value.toFixed(2)).padStart(width)

/** One line of a table: what was measured, its rate, its times, and the rate beside the baseline of the same minute. */
export function rateLine(name: string, rates: Rate[], baseline: Rate[], unit: string): string {
  const per_second = median(rates.map(rate => rate.per_second))
  const times = rates.flatMap(rate => rate.times)
  const ratio = per_second / median(baseline.map(rate => rate.per_second))
  return `  ${name.padEnd(34)} ${fixed(per_second)} ${unit}/s  median ${fixed(median(times), 6)} ms  p99 ${fixed(quantile(times, 0.99), 6)} ms  ${ratio.toFixed(2)} × baseline`
}
