import { startFakeOpenAI } from '../test/model/fake-openai.ts'
import { makeRepository } from './make-repository.ts'
import { addSample, openBaseline, report, type Samples } from './measure.ts'
import { median, quantile } from './rate.ts'
import { recordMetric } from './report/metrics.ts'
import { startService } from './start-service.ts'

const STEPS = 210
const RUNS = 3
const name = 'response to next request'
/**
 * The floor of a step that stores: its two commits, of a row each. That of one that does not is in
 * `compare/beside-floor.ts`.
 */
const fsync = 'baseline: insert, fsynced'
const early = `${name}, steps 5 to 15`
const late = `${name}, steps 195 to 205`

/**
 * From the end of one model response to the arrival of the next request: a trivial command, its outcome and
 * the next intent journalled on disk. And whether a long conversation makes it longer: around step 200 beside
 * around step 10.
 */
export async function stepOverhead(): Promise<string> {
  using repository = makeRepository()
  // Each command differs: a model that repeats itself is stopped by the service. Arguments come in one piece:
  // what is measured begins when the response ends, and a model's earlier pieces are read while it is still
  // writing.
  await using model = await startFakeOpenAI((_request, n) =>
    (n - 1) % (STEPS + 1) < STEPS
      ? { tool_calls: [{ name: 'shell', arguments: { command: `true # ${n}` } }], split: 1_000 }
      : { text: 'Done.' },
  )
  await using service = await startService({
    AGENTRUN_INIT_REPO_URL: repository.path,
    OPENAI_COMPATIBLE_BASE_URL: model.base_url,
    AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
    AGENTRUN_RUN_MAX_STEPS: '1000',
  })
  await using baseline = await openBaseline(service.database_url)
  const samples: Samples = new Map()
  for (let n = 0; n < RUNS; n++) {
    const first = model.requests.length
    const run = await service.call('POST', '/agent/run', { prompt: 'Take many small steps.' })
    await service.ended(Number(run.id))
    for (let step = 2; step <= STEPS; step++) {
      const [responded_at, request_at] = [
        model.requests[first + step - 1]?.responded_at ?? null,
        model.requests[first + step]?.at,
      ]
      // The first step waits for the clone.
      if (responded_at === null || request_at === undefined) continue
      if (step <= 100) addSample(samples, name, request_at - responded_at)
      if (step >= 5 && step <= 15) addSample(samples, early, request_at - responded_at)
      if (step >= 195 && step <= 205) addSample(samples, late, request_at - responded_at)
    }
    for (let i = 0; i < 50; i++) await baseline.take(samples)
  }
  const times = samples.get(name) ?? []
  const [middle, p95] = [median(times), quantile(times, 0.95)]
  recordMetric({
    name: 'overhead of a step',
    value: middle,
    unit: 'ms',
    target: { at_most: 4 },
    floor: median(samples.get(fsync) ?? []) * 2,
  })
  recordMetric({
    name: 'overhead of a step, p95 of median',
    value: p95 / middle,
    unit: '×',
    target: { at_most: 2.5 },
    floor: null,
  })
  const growth = median(samples.get(late) ?? []) / median(samples.get(early) ?? [])
  const table = report(
    `step-overhead: ${RUNS} runs of ${STEPS} steps of shell "true", the first 100 of each`,
    samples,
    {
      name,
      median_ms: 4,
    },
  )
  return `${table}  target: around step 200 ≤ 1.5 × around step 10: ${growth <= 1.5 ? 'met' : 'MISSED'}; it is ${growth.toFixed(2)}\n`
}

const LONG = 1_000
/** Steps of a run: the outputs of more would not fit into the context of a model. */
const LARGE = 15
const LARGE_RUNS = 6
const large = 'response to next request, outputs of 64 kB'
const first_steps = 'response to next request, steps 2 to 11'
const last_steps = `response to next request, steps ${LONG - 9} to ${LONG}`

/**
 * The overhead of a step whose command prints 64 kB, and how much longer the last steps of a run of 1,000
 * take than the first.
 */
export async function stepSizes(): Promise<string> {
  using repository = makeRepository()
  let command = (n: number) => `true # ${n}`
  let steps = LONG
  let first = 0
  await using model = await startFakeOpenAI((_request, n) =>
    n - first < steps
      ? { tool_calls: [{ name: 'shell', arguments: { command: command(n) } }], split: 1_000 }
      : { text: 'Done.' },
  )
  await using service = await startService({
    AGENTRUN_INIT_REPO_URL: repository.path,
    OPENAI_COMPATIBLE_BASE_URL: model.base_url,
    AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
  })
  await using baseline = await openBaseline(service.database_url)
  const samples: Samples = new Map()
  const play = async () => {
    first = model.requests.length
    const run = await service.call('POST', '/agent/run', { prompt: 'Take many steps.' })
    await service.ended(Number(run.id))
    // Numbered from 1: after the response of a step, its command and the request of the next one.
    return Array.from(
      { length: steps },
      (_, i) => (model.requests[first + i + 1]?.at ?? NaN) - (model.requests[first + i]?.responded_at ?? NaN),
    )
  }
  // A first run, so that the code is compiled before the early steps are measured.
  steps = 50
  await play()
  steps = LONG
  const times = await play()
  for (const ms of times.slice(1, 11)) addSample(samples, first_steps, ms)
  for (const ms of times.slice(-10)) addSample(samples, last_steps, ms)
  steps = LARGE
  // Printed by the shell itself: programs that create the text would be measured too.
  const create = 'head -c 48000 /dev/urandom | base64 -w 99 | head -c 64000 >/tmp/large'
  command = n => `[ -f /tmp/large ] || ${create}; echo "$(</tmp/large)" # ${n}`
  for (let n = 0; n < LARGE_RUNS; n++) for (const ms of (await play()).slice(1)) addSample(samples, large, ms)
  for (let i = 0; i < 50; i++) await baseline.take(samples)
  const growth = median(samples.get(last_steps) ?? []) / median(samples.get(first_steps) ?? [])
  const floor = median(samples.get(fsync) ?? []) * 2
  recordMetric({
    name: 'step with an output of 64 kB',
    value: median(samples.get(large) ?? []),
    unit: 'ms',
    target: { at_most: 10 },
    floor,
  })
  recordMetric({
    name: `steps ${LONG - 9} to ${LONG} of the first`,
    value: growth,
    unit: '×',
    target: { at_most: 1.15 },
    floor: null,
  })
  const table = report(
    `step-sizes: a run of ${LONG} steps, and ${LARGE_RUNS} of ${LARGE} steps that print 64 kB`,
    samples,
    {
      name: large,
      median_ms: 10,
    },
  )
  return `${table}  target: the last steps ≤ 1.15 × the first: ${growth <= 1.15 ? 'met' : 'MISSED'}; it is ${growth.toFixed(2)}\n`
}
