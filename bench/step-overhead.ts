import { startFakeOpenAI } from '../test/model/fake-openai.ts'
import { makeRepository } from './make-repository.ts'
import { addSample, openBaseline, report, type Samples } from './measure.ts'
import { startService } from './start-service.ts'

const STEPS = 100

/** From the end of one model answer to the arrival of the next request: a trivial command, its outcome and the next intent journalled on disk. */
export async function stepOverhead(): Promise<string> {
  using repository = makeRepository()
  // Each command differs: a model that repeats itself is stopped by the service. Arguments come in one piece: what is measured begins
  // when the answer ends, and a model's earlier pieces are read while it is still writing.
  await using model = await startFakeOpenAI((_request, n) =>
    n <= STEPS ? { tool_calls: [{ name: 'shell', arguments: { command: `true # ${n}` } }], split: 1_000 } : { text: 'Done.' },
  )
  await using service = await startService({
    AGENTRUN_INIT_REPO_URL: repository.path,
    OPENAI_COMPATIBLE_BASE_URL: model.base_url,
    AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
  })
  await using baseline = await openBaseline(service.database_url)
  const samples: Samples = new Map()
  const run = await service.call('POST', '/agent/run', { prompt: 'Take many small steps.' })
  await service.ended(Number(run.id))
  // The first step waits for the clone.
  for (const [i, request] of model.requests.entries()) {
    const answered_at = model.requests[i - 1]?.answered_at ?? null
    if (i >= 2 && answered_at !== null) addSample(samples, 'answer to next request', request.at - answered_at)
  }
  for (let i = 0; i < STEPS; i++) await baseline.take(samples)
  return report(`step-overhead: ${STEPS} steps of shell "true"`, samples, { name: 'answer to next request', median_ms: 10 })
}
