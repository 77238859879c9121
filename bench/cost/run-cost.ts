import { execFileSync } from 'node:child_process'
import { startFakeOpenAI } from '../../test/model/fake-openai.ts'
import { makeRepository } from '../make-repository.ts'
import { familyMs } from '../processor.ts'
import { recordMetric } from '../report/metrics.ts'
import { type Service, startService } from '../start-service.ts'

const RUNS = 40
/**
 * Longer than the files of an ended run stay: from then on each run also pays for the removal of an earlier
 * one.
 */
const WARM_UP_MS = 40_000
const STEPS = [1, 21]
/** In it ids of processes count those that were started. */
const NAMESPACE = ['/usr/bin/unshare', '--pid', '--fork', '--kill-child', '--mount-proc']

/**
 * What a run costs beside the model, from its create to its end: time of processors of the service, its
 * database and all that they start, and how many processes and threads are started. Each run writes files,
 * commits and pushes to a repository on this machine.
 */
export async function runCost(): Promise<string> {
  const times = await costs([], service => familyMs(service.pid))
  const unchanged = await costs([], service => familyMs(service.pid), false)
  const started = await costs(NAMESPACE, service => lastId(service.pid))
  const table = STEPS.map(
    (steps, i) =>
      `  ${steps} steps  ${times[i]?.toFixed(0).padStart(5)} ms  ${started[i]?.toFixed(1).padStart(6)} processes and threads`,
  )
  const fixed = ([few = 0, many = 0]: number[]) => few - (many - few) / 20
  const [, of_long = Number.NaN] = times
  const record = (name: string, ms: number, at_most: number, floor: number | null) =>
    recordMetric({ name, value: ms / 1_000, unit: 's', target: { at_most }, floor })
  // The same run without a change of files has no snapshot, commit, push and pull request.
  record(
    'CPU of a run of 21 steps that write, with a pull request',
    of_long,
    0.2,
    (unchanged[1] ?? Number.NaN) / 1_000,
  )
  record('CPU of its fixed part', fixed(times), 0.12, fixed(unchanged) / 1_000)
  const verdict = `  fixed part  ${fixed(times).toFixed(0)} ms (target ≤ 120)  ${fixed(started).toFixed(1)} processes and threads`
  const without = `  the same without a change  ${unchanged.map(ms => `${ms.toFixed(0)} ms`).join(', ')}; fixed part ${fixed(unchanged).toFixed(0)} ms`
  return [`run-cost: means of ${RUNS} runs one after another`, ...table, verdict, without, ''].join('\n')
}

/**
 * Means for the numbers of STEPS. `read`: what the service has used since its start. `writes`: whether the
 * steps change files.
 */
async function costs(within: string[], read: (service: Service) => number, writes = true): Promise<number[]> {
  using repository = makeRepository()
  let steps = 1
  let left = 0
  await using model = await startFakeOpenAI((_request, n) =>
    left-- > 0
      ? {
          tool_calls: [
            { name: 'shell', arguments: { command: writes ? `echo ${n} >written-${n % 7}` : `true # ${n}` } },
          ],
          split: 1_000,
        }
      : { text: 'Done.' },
  )
  await using service = await startService(
    {
      AGENTRUN_INIT_REPO_URL: repository.path,
      OPENAI_COMPATIBLE_BASE_URL: model.base_url,
      AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
      AGENTRUN_MODEL_EVALUATIONS: '0',
    },
    { within },
  )
  const runOne = async () => {
    left = steps
    const run = await service.call('POST', '/agent/run', { prompt: 'Write some files.' })
    await service.ended(Number(run.id))
  }
  const means: number[] = []
  for (const warm_until = performance.now() + WARM_UP_MS; performance.now() < warm_until; ) await runOne()
  for (steps of STEPS) {
    const before = read(service)
    for (let n = 0; n < RUNS; n++) await runOne()
    means.push((read(service) - before) / RUNS)
  }
  return means
}

/** The id that a process or thread in the namespace of `pid` got last: the one that reads it. */
const lastId = (pid: number) =>
  Number(
    execFileSync('/usr/bin/nsenter', ['--target', String(pid), '--pid', '--', 'cat', '/proc/loadavg'], {
      encoding: 'latin1',
    }).split(' ')[4],
  )
