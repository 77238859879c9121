import { chmodSync, copyFileSync, mkdtempSync, rmSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { startFakeOpenAI } from '../../test/model/fake-openai.ts'
import { addSample, openBaseline, report, type Samples } from '../measure.ts'
import { median } from '../rate.ts'
import { recordMetric } from '../report/metrics.ts'
import { type Service, startService } from '../start-service.ts'

const ROUNDS = 6
const CALLS = 50
const WARM_UP = 10
const DIRECT = 'a call sent directly'
const BY_GATEWAY = 'a call of a program by the gateway'

/**
 * A call of the model by a program in a sandbox, through its gateway with plan and journal, beside the same
 * call sent directly.
 */
export async function gateway(): Promise<string> {
  await using model = await startFakeOpenAI(() => ({ text: 'Hello.' }))
  const folder = mkdtempSync(join(tmpdir(), 'agentrun-bench-agent-'))
  try {
    chmodSync(folder, 0o755)
    copyFileSync(fileURLToPath(new URL('program.mjs', import.meta.url)), join(folder, 'program.mjs'))
    const program = {
      folder,
      command: 'exec node /opt/agents/program/program.mjs',
      apis: ['openai-chat'],
      environment: { GATEWAY: '{gateway}', MODEL: '{model}', NODE_OPTIONS: '' },
    }
    await using service = await startService({
      OPENAI_COMPATIBLE_BASE_URL: model.base_url,
      AGENTRUN_DEFAULT_MODEL: 'openai-compatible/fake',
      AGENTRUN_AGENTS: JSON.stringify({ program }),
    })
    await using baseline = await openBaseline(service.database_url)
    const samples: Samples = new Map()
    for (let round = 0; round < ROUNDS; round++) {
      for (const ms of await directly(model.base_url)) addSample(samples, DIRECT, ms)
      for (const ms of await byGateway(service)) addSample(samples, BY_GATEWAY, ms)
      await baseline.take(samples)
    }
    const [direct, by_gateway] = [DIRECT, BY_GATEWAY].map(name => median(samples.get(name) ?? []))
    const value = (by_gateway ?? Number.NaN) - (direct ?? Number.NaN)
    const floor = median(samples.get('baseline: insert, fsynced') ?? [])
    recordMetric({
      name: 'overhead of the gateway per call',
      value,
      unit: 'ms',
      target: { at_most: 3 },
      floor,
    })
    return report(`gateway: ${ROUNDS} rounds of ${CALLS} calls`, samples, {
      name: BY_GATEWAY,
      median_ms: (direct ?? 0) + 3,
    })
  } finally {
    rmSync(folder, { recursive: true })
  }
}

async function directly(base_url: string): Promise<number[]> {
  const body = JSON.stringify({ model: 'fake', stream: true, messages: [{ role: 'user', content: 'Hello' }] })
  const times: number[] = []
  for (let n = 0; n < WARM_UP + CALLS; n++) {
    const started = performance.now()
    const response = await fetch(`${base_url}/chat/completions`, {
      method: 'POST',
      headers: { 'content-type': 'application/json' },
      body,
    })
    await response.text()
    times.push(performance.now() - started)
  }
  return times.slice(WARM_UP)
}

async function byGateway(service: Service): Promise<number[]> {
  const { id } = await service.call('POST', '/agent/run', {
    prompt: `calls: ${WARM_UP + CALLS}`,
    agent_type: 'program',
  })
  await service.ended(Number(id))
  const { result } = await service.call('GET', `/agent/run/${id}`)
  const times = JSON.parse(String(result)) as number[]
  return times.slice(WARM_UP)
}
