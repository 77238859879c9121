import { spawn } from 'node:child_process'
import pg from 'pg'

/** Milliseconds of every sample, by what was measured. */
export type Samples = Map<string, number[]>

export function addSample(samples: Samples, name: string, ms: number): void {
  samples.set(name, [...(samples.get(name) ?? []), ms])
}

const quantile = (sorted: number[], q: number) =>
  sorted[Math.min(sorted.length - 1, Math.floor(sorted.length * q))] ?? Number.NaN

/**
 * A table of medians and 95th percentiles; every median also as a multiple of the last row's baseline, so
 * that machines can be compared.
 */
export function report(title: string, samples: Samples, target: { name: string; median_ms: number }): string {
  const rows = [...samples].map(([name, values]) => {
    const sorted = values.toSorted((a, b) => a - b)
    return {
      name,
      n: values.length,
      median: quantile(sorted, 0.5),
      p95: quantile(sorted, 0.95),
      max: sorted.at(-1) ?? Number.NaN,
    }
  })
  const width = Math.max(...rows.map(row => row.name.length))
  const lines = rows.map(
    row =>
      `  ${row.name.padEnd(width)}  median ${row.median.toFixed(2).padStart(8)} ms  p95 ${row.p95.toFixed(2).padStart(8)} ms  max ${row.max.toFixed(2).padStart(8)} ms  (${row.n})`,
  )
  const median = rows.find(row => row.name === target.name)?.median ?? Number.NaN
  const ratios = rows
    .filter(row => row.name.startsWith('baseline'))
    .map(row => `${(median / row.median).toFixed(1)} × ${row.name.slice(10)}`)
  const verdict = `  target: median ≤ ${target.median_ms} ms: ${median <= target.median_ms ? 'met' : 'MISSED'}; it is ${ratios.join(', ')}`
  return [title, ...lines, verdict, ''].join('\n')
}

/**
 * The current speed of this machine at the operations of the service: to be measured between the samples of a
 * metric.
 */
export async function openBaseline(
  database_url: string,
): Promise<{ take(samples: Samples): Promise<void> } & AsyncDisposable> {
  const client = new pg.Client({ connectionString: database_url })
  await client.connect()
  await client.query(
    'create table if not exists bench_baseline (id bigint generated always as identity primary key, text text)',
  )
  const timed = async (samples: Samples, name: string, work: () => Promise<unknown>) => {
    const started = performance.now()
    await work()
    addSample(samples, name, performance.now() - started)
  }
  return {
    async take(samples) {
      await timed(samples, 'baseline: select 1', () => client.query({ name: 'one', text: 'select 1' }))
      const insert = {
        name: 'insert',
        text: 'insert into bench_baseline (text) values ($1)',
        values: ['x'.repeat(500)],
      }
      await timed(samples, 'baseline: insert, fsynced', () => client.query(insert))
      await timed(samples, 'baseline: spawn of true', runTrue)
    },
    [Symbol.asyncDispose]: () => client.end(),
  }
}

function runTrue(): Promise<void> {
  return new Promise((resolve, reject) => {
    const child = spawn('true', { stdio: 'ignore' })
    child.once('error', reject)
    child.once('exit', () => resolve())
  })
}
