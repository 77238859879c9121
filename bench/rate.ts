import { familyMs } from './processor.ts'

/**
 * `times`: milliseconds of every call; `processor_ms`: what each call cost the watched process and its
 * children.
 */
export type Rate = { per_second: number; times: number[]; processor_ms: number }

/**
 * How often `workers` loops, each one call after the other, get `work` done in `seconds`; a loop whose work
 * returns false ends early.
 * @param pid whose processor time is watched: unlike the rate, it is much the same on a busy machine
 */
export async function rateOf(
  workers: number,
  seconds: number,
  work: (worker: number) => Promise<unknown>,
  pid: number | null = null,
): Promise<Rate> {
  const processor = () => (pid === null ? Number.NaN : familyMs(pid))
  const spent = processor()
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
  const per_second = times.length / ((performance.now() - started) / 1_000)
  return { per_second, times, processor_ms: (processor() - spent) / times.length }
}

export function quantile(values: number[], q: number): number {
  const sorted = values.toSorted((a, b) => a - b)
  return sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN
}

export const median = (values: number[]) => quantile(values, 0.5)

const fixed = (value: number, width = 8) =>
  (value >= 100 ? value.toFixed(0) : value.toFixed(2)).padStart(width)

/**
 * A line of a table: what was measured, its rate and its times, and what one costs the database, beside the
 * baseline of the same minute.
 */
export function rateLine(name: string, rates: Rate[], baseline: Rate[], unit: string): string {
  const per_second = median(rates.map(rate => rate.per_second))
  const times = rates.flatMap(rate => rate.times)
  const ratio = per_second / median(baseline.map(rate => rate.per_second))
  const processor = median(rates.map(rate => rate.processor_ms))
  const cost = processor / median(baseline.map(rate => rate.processor_ms))
  return [
    `  ${name.padEnd(32)} ${fixed(per_second)} ${unit}/s = ${ratio.toFixed(2)} × baseline`,
    `median ${fixed(median(times), 6)} ms  p99 ${fixed(quantile(times, 0.99), 6)} ms`,
    `${processor.toFixed(2)} ms of the database's processor = ${cost.toFixed(1)} × baseline`,
  ].join('  ')
}
