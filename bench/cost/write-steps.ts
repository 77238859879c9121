import { startFakeOpenAI } from '../../test/model/fake-openai.ts'
import { makeRepository } from '../make-repository.ts'
import { addSample, openBaseline, report, type Samples } from '../measure.ts'
import { median } from '../rate.ts'
import { recordMetric } from '../report/metrics.ts'
import { startService } from '../start-service.ts'

const STEPS = 100
const RUNS = 3
const writing = 'response to next request, a file written'
const reading = 'response to next request, nothing written'

/**
 * The overhead of a step that writes a file, which a snapshot and a checkpoint follow, beside one that writes nothing: runs of both take turns.
 * The model responds at once, so nothing of the snapshot happens while it writes.
 */
export async function writeSteps(): Promise<string> {
  using repository = makeRepository()
  let writes = false
  let first = 0
  await using model = await startFakeOpenAI((_request, n) =>
    n - first <= STEPS
      ? { tool_calls: [{ name: 'shell', arguments: { command: writes ? `echo ${n} >written-${n % 7}` : `true # ${n}` } }], split: 1_000 }
      : { text: 'Done.' },
  )
  await using service = await startService({
    AGENTRUN_INIT_REPO_URL: repository.path,
    OPENAI_COMPATIBLE_BASE_URL: model.base_url,
    AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
    AGENTRUN_MODEL_EVALUATIONS: '0',
  })
  await using baseline = await openBaseline(service.database_url)
  const samples: Samples = new Map()
  for (let n = -2; n < RUNS * 2; n++) {
    writes = n % 2 === 0
    first = model.requests.length
    const run = await service.call('POST', '/agent/run', { prompt: 'Take many small steps.' })
    await service.ended(Number(run.id))
    // The first step waits for the clone; the first run of each kind compiles code.
    for (let step = 2; n >= 0 && step <= STEPS; step++) {
      const [before, after] = [model.requests[first + step - 1], model.requests[first + step]]
      addSample(samples, writes ? writing : reading, (after?.at ?? Number.NaN) - (before?.responded_at ?? Number.NaN))
    }
    for (let i = 0; i < 20; i++) await baseline.take(samples)
  }
  const [value, floor] = [median(samples.get(writing) ?? []), median(samples.get(reading) ?? [])]
  recordMetric({ name: 'step that writes a file', value, unit: 'ms', target: { at_most: 2 }, of_floor: true, floor })
  return report(`write-steps: ${RUNS} runs of ${STEPS} steps of each kind`, samples, { name: writing, median_ms: floor * 2 })
}
