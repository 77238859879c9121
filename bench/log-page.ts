import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { fileURLToPath } from 'node:url'
import pg from 'pg'
import { throughput } from './load.ts'
import { makeRepository } from './make-repository.ts'
import { processorMs } from './processor.ts'
import { median } from './rate.ts'
import { recordMetric } from './report/metrics.ts'
import { startService, TOKEN } from './start-service.ts'

const ENTRIES = 100_000
const ROUNDS = 5
/** More than the service keeps in memory before a page is requested again. */
const PAGES = 990
const load = { connections: 16, seconds: 2 }

/**
 * Pages of 100 entries of 2 KB, authenticated and limited, beside a bare node:http server with the same bytes
 * in memory; and pages that are not in memory, at the beginning and at the end of a long trace. In
 * alternating rounds, because machines are noisy.
 */
export async function logPage(): Promise<string> {
  using repository = makeRepository()
  await using service = await startService({
    AGENTRUN_INIT_REPO_URL: repository.path,
    AGENTRUN_WORKER_CONCURRENCY: '0',
    AGENTRUN_LIMIT_STANDARD: '1000000/30',
    AGENTRUN_LIMIT_TOKEN_TOTAL: '1000000/60',
  })
  const run = await service.call('POST', '/agent/run', { prompt: 'A long trace.' })
  await fillTrace(service.database_url, Number(run.id))
  const logs = `${service.url}/agent/run/${run.id}/logs`
  const headers = { authorization: `Bearer ${TOKEN}` }
  const page = await (await fetch(`${logs}?skip=0&limit=100`, { headers })).text()
  await using bare = await startBare(page)
  const spent = { bare: [] as number[], first: [] as number[] }

  const results = {
    bare: [] as number[],
    first: [] as number[],
    last: [] as number[],
    database: [] as number[],
  }
  // Each begins where no other page does, so none is in memory.
  let distinct = 0
  const another = () => `${logs}?skip=${((distinct++ * 101) % (PAGES * 100)) + 1}&limit=100`
  const cost = { first: [] as number[], last: [] as number[] }
  for (let round = 0; round < ROUNDS; round++) {
    const [bare_rate, bare_cpu] = await measured(bare.pid, () => throughput(bare.url, {}, load))
    const [first_rate, first_cpu] = await measured(service.pid, () =>
      throughput(`${logs}?skip=0&limit=100`, headers, load),
    )
    results.bare.push(bare_rate)
    results.first.push(first_rate)
    spent.bare.push(bare_cpu)
    spent.first.push(first_cpu)
    results.last.push(await throughput(`${logs}?skip=${ENTRIES - 100}&limit=100`, headers, load))
    results.database.push(await throughput(another, headers, load))
    // Each page once: none is in memory yet.
    for (let n = 0; n < 20; n++) {
      const skip = (round * 20 + n + 1) * 3
      cost.first.push(await took(`${logs}?skip=${skip}&limit=100`, headers))
      cost.last.push(await took(`${logs}?skip=${ENTRIES - 100 - skip}&limit=100`, headers))
    }
  }
  const ratio = median(results.first) / median(results.bare)
  recordMetric({
    name: 'log page of 100 entries, in memory',
    value: median(results.first),
    unit: 'requests/s',
    floor: median(results.bare),
    target: { at_least: 0.7 },
    of_floor: true,
  })
  recordMetric({
    name: 'log page of 100 entries, from the database',
    value: median(results.database),
    unit: 'requests/s',
    floor: median(results.bare),
    target: { at_least: 0.2 },
    of_floor: true,
  })
  const late = median(cost.last) / median(cost.first)
  return [
    `log-page: 100 entries of 2 KB (${Math.round(page.length / 1024)} KiB), ${load.connections} connections`,
    ...Object.entries(results).map(
      ([name, values]) => `  ${name.padEnd(8)} median ${median(values).toFixed(0).padStart(6)} requests/s`,
    ),
    `  target: skip 0 ≥ 0.7 of bare: ${ratio >= 0.7 ? 'met' : 'MISSED'}; it is ${ratio.toFixed(2)}`,
    `  processor time of the server for each: ${median(spent.first).toFixed(3)} ms, bare ${median(spent.bare).toFixed(3)} ms`,
    `  a page that is not in memory: ${median(cost.first).toFixed(2)} ms at the beginning, ${median(cost.last).toFixed(2)} ms at the end`,
    `  target: the end ≤ 1.2 × the beginning: ${late <= 1.2 ? 'met' : 'MISSED'}; it is ${late.toFixed(2)}`,
    '',
  ].join('\n')
}

async function took(url: string, headers: Record<string, string>): Promise<number> {
  const started = performance.now()
  await (await fetch(url, { headers })).text()
  return performance.now() - started
}

/**
 * The rate of `work`, in requests per second, and the milliseconds of processor time that the process took
 * for each.
 */
async function measured(pid: number, work: () => Promise<number>): Promise<[number, number]> {
  const before = processorMs(pid)
  const started = performance.now()
  const rate = await work()
  return [rate, (processorMs(pid) - before) / ((rate * (performance.now() - started)) / 1000)]
}

async function fillTrace(database_url: string, run_id: number): Promise<void> {
  const client = new pg.Client({ connectionString: database_url })
  await client.connect()
  await client.query(
    `insert into log_entries (run_id, seq, organization_id, turn, message_type, tool_name, body)
      select r.id, n, r.organization_id, 1, 'ACTION', 'shell',
        replace(
          json_build_object(
            'agent_run_id', r.id, 'created_at', '2026-11-21T10:00:00.000Z', 'message_type', 'ACTION',
            'thought', null, 'tool_name', 'shell', 'tool_input', json_build_object('command', 'ls ' || n),
            'tool_output',
            json_build_object(
              'status', 'ok', 'exit_code', 0, 'output', repeat(md5(n::text), 55), 'truncated', false
            ), 'observation', null, 'seq', n, 'turn', 1, 'duration_ms', 1, 'truncated', false, 'artifact_url',
            null
          )::text, '" : ', '":'
        )
      from runs r, generate_series(2, $2::int) n
      where r.id = $1`,
    [run_id, ENTRIES],
  )
  await client.query('update runs set total_logs = $2 where id = $1', [run_id, ENTRIES])
  await client.query('vacuum analyze log_entries')
  await client.end()
}

async function startBare(body: string): Promise<{ url: string; pid: number } & AsyncDisposable> {
  const child = spawn(process.execPath, [fileURLToPath(new URL('./bare-server.ts', import.meta.url))], {
    stdio: ['pipe', 'pipe', 'inherit'],
  })
  child.stdin.end(body)
  const [port] = await once(child.stdout, 'data')
  return {
    url: `http://127.0.0.1:${String(port).trim()}/`,
    pid: child.pid ?? 0,
    async [Symbol.asyncDispose]() {
      const ended = once(child, 'exit')
      child.kill()
      await ended
    },
  }
}
