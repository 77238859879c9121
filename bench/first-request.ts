import { startFakeOpenAI } from '../test/model/fake-openai.ts'
import { makeRepository } from './make-repository.ts'
import { addSample, openBaseline, report, type Samples } from './measure.ts'
import { median, quantile } from './rate.ts'
import { recordMetric } from './report/metrics.ts'
import { startService } from './start-service.ts'

const RUNS = 50
const WARM_UP = 3

/**
 * From the client's create request to the arrival of the first model request, mirror warm, runs one after
 * another.
 */
export async function firstRequest(): Promise<string> {
  using repository = makeRepository()
  let arrived = Promise.withResolvers<void>()
  await using model = await startFakeOpenAI(() => {
    arrived.resolve()
    return { text: 'Nothing to do.' }
  })
  const settings = {
    AGENTRUN_INIT_REPO_URL: repository.path,
    OPENAI_COMPATIBLE_BASE_URL: model.base_url,
    AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
  }
  await using service = await startService(settings, { supervised: true })
  await using baseline = await openBaseline(service.database_url)
  const samples: Samples = new Map()
  for (let n = -WARM_UP; n < RUNS; n++) {
    arrived = Promise.withResolvers()
    const started = performance.now()
    const run = await service.call('POST', '/agent/run', {
      prompt: `Look at part ${n} of this repository and say what it does.`,
    })
    const created = performance.now()
    // The service gets no requests meanwhile: they would disturb the measurement.
    await Promise.race([arrived.promise, failAfter(20_000)])
    const request = model.requests.at(-1)
    await service.ended(Number(run.id))
    if (!request) throw new Error('there was no model request')
    if (n < 0) continue
    addSample(samples, 'create to first model request', request.at - started)
    addSample(samples, 'of it: create request and response', created - started)
    await baseline.take(samples)
  }
  const times = (name: string) => samples.get(name) ?? []
  const name = 'create to first model request'
  recordMetric({
    name,
    value: median(times(name)),
    unit: 'ms',
    target: { at_most: 35 },
    floor: median(times('baseline: insert, fsynced')),
  })
  recordMetric({
    name: `${name}, p95`,
    value: quantile(times(name), 0.95),
    unit: 'ms',
    target: { at_most: 50 },
    floor: null,
  })
  return report(`first-request: ${RUNS} runs one after another`, samples, {
    name: 'create to first model request',
    median_ms: 60,
  })
}

function failAfter(ms: number): Promise<never> {
  return new Promise((_resolve, reject) => {
    setTimeout(() => reject(new Error(`no model request within ${ms} ms`)), ms).unref()
  })
}
