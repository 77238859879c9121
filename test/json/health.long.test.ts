import { once } from 'node:events'
import { Worker } from 'node:worker_threads'
import { expect, test } from 'vitest'
import { programEnv } from '../agents/program-app.ts'
import { SECRET } from '../forge/deliver.ts'
import { callsInTurn, hostile, startMcpApp } from '../mcp-servers/mcp-app.ts'
import type { FakeScript } from '../model/fake-server.ts'
import { awaitEnd, createRun } from '../runs/await-run.ts'
import type { App } from '../start-app.ts'

/** How long the service may not respond, on a machine that does nothing else. */
const MAX_STALL_MS = 250
/** A machine that is busier than this is allowed no longer stalls: they would be those of the service. */
const MAX_CONTENTION = 8
const BYTES = 6 * 1024 * 1024

const thread = (name: string, data: object) =>
  new Worker(new URL(name, import.meta.url), { workerData: data })

/** Where strangers and members can send JSON by HTTP. */
function targetsOf(app: App, hook: string) {
  const json = { 'content-type': 'application/json', accept: 'application/json, text/event-stream' }
  const authorized = { ...json, authorization: `Bearer ${app.token}` }
  const at = `${app.base_url}/v1/organizations/${app.org_id}`
  const unsigned = {
    ...json,
    'x-gitea-signature': 'a'.repeat(64),
    'x-gitea-event': 'push',
    'x-gitea-delivery': 'one',
  }
  const initialize =
    '{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"capabilities":{},"clientInfo":{"icons":'
  return [
    { url: `${at}/agent/run`, headers: authorized, before: '{"prompt":"","metadata":', after: '}' },
    { url: `${at}/agent/run`, headers: authorized, before: '{"prompt":"","images":', after: '}' },
    {
      url: `${at}/mcp-servers/wide`,
      headers: authorized,
      before: '{"command":"a","environment":',
      after: '}',
    },
    { url: `${app.base_url}/mcp`, headers: authorized, before: initialize, after: '}}}' },
    { url: hook, headers: unsigned, before: '', after: '' },
    { url: `${app.base_url}/hooks/github/999`, headers: unsigned, before: '', after: '' },
    { url: `${app.base_url}/oauth/token`, headers: json, before: '', after: '' },
  ]
}

const million = `data: {"id":"1","choices":[{"index":0,"delta":{"tool_calls":[${Array(1_000_000).fill('{}').join()}]}}]}\n\n`
/** A model that sends a million calls to one run, and calls the tools of a hostile program in the others. */
const script: FakeScript = (request, n) =>
  JSON.stringify(request.body).includes('million')
    ? { raw: [million] }
    : callsInTurn({ name: 'odd__act', arguments: {} }, { name: 'odd__act', arguments: {} })(request, n)

test('the service responds within 250 ms while every channel brings hostile JSON at once', async () => {
  await using app = await startMcpApp(script, { ...programEnv(), AGENTRUN_ALLOW_PRIVATE_GIT: '1' })
  await app.servers.set('odd', hostile('too-many-parts'))
  const gitea = { url: 'http://127.0.0.1:9', token: 't', webhook_secret: SECRET }
  const connected = await app.call('PUT', `/v1/organizations/${app.org_id}/integrations/gitea`, gitea)
  const health = thread('health-thread.ts', { base_url: app.base_url })
  const attack = thread('attack-thread.ts', {
    targets: targetsOf(app, connected.body.webhook_url),
    bytes: BYTES,
  })
  using loop = watchEventLoop()
  try {
    const program = { agent_type: 'program' }
    const bodies = [
      { prompt: 'do: permission options 49000 | call values 1000000 | say Done.', ...program },
      { prompt: 'do: permission options 2000000', ...program },
      { prompt: 'Call it.' },
      { prompt: 'Answer with a million calls.' },
    ]
    const runs = bodies.map(async body => awaitEnd(app, (await createRun(app, body)).id))
    const [[statuses], ends] = await Promise.all([once(attack, 'message'), Promise.all(runs)])
    health.postMessage('report')
    const [{ longest_ms, responses, contention }] = await once(health, 'message')
    const machine = Math.min(contention, MAX_CONTENTION)
    console.info(
      `${responses} responses in at most ${longest_ms.toFixed()} ms, ${contention.toFixed(1)} threads per processor,`,
    )
    console.info(`and a stall of at most ${loop.longest_ms().toFixed()} ms of processor time`)
    expect(Object.keys(statuses).filter(status => Number(status) >= 500)).toEqual([])
    expect(ends.map(({ error }) => error?.code ?? null)).toEqual([
      'rejected',
      'agent_failed',
      null,
      'malformed',
    ])
    expect(responses).toBeGreaterThan(100)
    expect(loop.longest_ms()).toBeLessThan(MAX_STALL_MS)
    expect(longest_ms / machine).toBeLessThan(MAX_STALL_MS)
  } finally {
    await Promise.all([health, attack].map(worker => worker.terminate()))
  }
}, 600_000)

/**
 * Measures the processor time of this thread, which is that of the service, between two turns of its event
 * loop: the longest stall, whatever else the machine does.
 */
function watchEventLoop(): Disposable & { longest_ms(): number } {
  const spent = () => process.threadCpuUsage().user / 1_000
  let last = spent()
  let longest = 0
  const timer = setInterval(() => {
    longest = Math.max(longest, spent() - last)
    last = spent()
  }, 1)
  return { longest_ms: () => longest, [Symbol.dispose]: () => clearInterval(timer) }
}
