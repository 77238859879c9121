import { setTimeout as delay } from 'node:timers/promises'
import { startFakeOpenAI } from '../../test/model/fake-openai.ts'
import { makeRepository } from '../make-repository.ts'
import { addSample, openBaseline, report, type Samples } from '../measure.ts'
import { median } from '../rate.ts'
import { recordMetric } from '../report/metrics.ts'
import { startService } from '../start-service.ts'

const STEPS = 100
const RUNS = 3
/** A fast model's first token takes several times as long. */
const SLOW_MS = 30
const writing = 'response to next request, a file written'
const reading = 'response to next request, nothing written'
const slow = `, the model takes ${SLOW_MS} ms`
const KINDS = [
  { name: writing, writes: true, model_ms: 0 },
  { name: reading, writes: false, model_ms: 0 },
  { name: `${writing}${slow}`, writes: true, model_ms: SLOW_MS },
  { name: `${reading}${slow}`, writes: false, model_ms: SLOW_MS },
]

/**
 * The overhead of a step that writes a file, which a snapshot and a checkpoint follow, beside one that writes
 * nothing: runs of both take turns. With a model that responds at once, nothing of the snapshot happens while
 * it does; so both are also measured with one that takes longer.
 */
export async function writeSteps(): Promise<string> {
  using repository = makeRepository()
  let kind = KINDS[0]
  let first = 0
  await using model = await startFakeOpenAI(async (_request, n) => {
    if (kind?.model_ms) await delay(kind.model_ms)
    const command = kind?.writes ? `echo ${n} >written-${n % 7}` : `true # ${n}`
    return n - first <= STEPS
      ? { tool_calls: [{ name: 'shell', arguments: { command } }], split: 1_000 }
      : { text: 'Done.' }
  })
  await using service = await startService({
    AGENTRUN_INIT_REPO_URL: repository.path,
    OPENAI_COMPATIBLE_BASE_URL: model.base_url,
    AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
    AGENTRUN_MODEL_EVALUATIONS: '0',
  })
  await using baseline = await openBaseline(service.database_url)
  const samples: Samples = new Map()
  for (let n = -2; n < RUNS * KINDS.length; n++) {
    kind = KINDS[Math.abs(n) % KINDS.length]
    first = model.requests.length
    const run = await service.call('POST', '/agent/run', { prompt: 'Take many small steps.' })
    await service.ended(Number(run.id))
    // The first step waits for the clone; the first run of each kind compiles code.
    for (let step = 2; n >= 0 && step <= STEPS; step++) {
      const [before, after] = [model.requests[first + step - 1], model.requests[first + step]]
      addSample(samples, kind?.name ?? '', (after?.at ?? Number.NaN) - (before?.responded_at ?? Number.NaN))
    }
    for (let i = 0; i < 20; i++) await baseline.take(samples)
  }
  const [value, floor] = [median(samples.get(writing) ?? []), median(samples.get(reading) ?? [])]
  recordMetric({
    name: 'step that writes a file',
    value,
    unit: 'ms',
    target: { at_most: 2 },
    of_floor: true,
    floor,
  })
  return report(`write-steps: ${RUNS} runs of ${STEPS} steps of each kind`, samples, {
    name: writing,
    median_ms: floor * 2,
  })
}
