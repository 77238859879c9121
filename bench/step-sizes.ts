import { startFakeOpenAI } from '../test/model/fake-openai.ts'
import { makeRepository } from './make-repository.ts'
import { addSample, openBaseline, report, type Samples } from './measure.ts'
import { median } from './rate.ts'
import { startService } from './start-service.ts'

const LONG = 1_000
const LARGE = 100
const large = 'answer to next request, outputs of 64 kB'
const early = 'answer to next request, steps 2 to 11'
const late = `answer to next request, steps ${LONG - 9} to ${LONG}`

/** The overhead of a step whose command prints 64 kB, and how much longer the last steps of a run of 1,000 take than the first. */
export async function stepSizes(): Promise<string> {
  using repository = makeRepository()
  let command = (n: number) => `true # ${n}`
  let steps = LONG
  let first = 0
  await using model = await startFakeOpenAI((_request, n) =>
    n - first < steps ? { tool_calls: [{ name: 'shell', arguments: { command: command(n) } }], split: 1_000 } : { text: 'Done.' },
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
    // Numbered from 1: after the answer of a step, its command and the request of the next one.
    return Array.from(
      { length: steps },
      (_, i) => (model.requests[first + i + 1]?.at ?? NaN) - (model.requests[first + i]?.answered_at ?? NaN),
    )
  }
  // A first run, so that the code is compiled before the early steps are measured.
  steps = 50
  await play()
  steps = LONG
  const times = await play()
  for (const ms of times.slice(1, 11)) addSample(samples, early, ms)
  for (const ms of times.slice(-10)) addSample(samples, late, ms)
  steps = LARGE
  command = n => `head -c 48000 /dev/urandom | base64 -w 99 | head -c 64000 # ${n}`
  for (const ms of (await play()).slice(1)) addSample(samples, large, ms)
  for (let i = 0; i < 50; i++) await baseline.take(samples)
  const growth = median(samples.get(late) ?? []) / median(samples.get(early) ?? [])
  const table = report(`step-sizes: a run of ${LONG} steps, and ${LARGE} steps that print 64 kB, the command included`, samples, {
    name: large,
    median_ms: 10,
  })
  return `${table}  target: the last steps ≤ 1.15 × the first: ${growth <= 1.15 ? 'met' : 'MISSED'}; it is ${growth.toFixed(2)}\n`
}
