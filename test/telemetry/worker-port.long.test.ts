import { expect, test } from 'vitest'
import { calls, responses, shell } from '../runs/coding-app.ts'
import { startApiCluster } from '../runs/recovery/cluster.ts'
import { readMetrics, sampleOf } from './read-metrics.ts'

const patience = { timeout: 30_000 }

test('a worker-only process has its own metrics and probes, and is not ready while it drains', async () => {
  await using cluster = await startApiCluster(responses(calls(shell('sleep 4')), { text: 'Done.' }), {
    AGENTRUN_METRICS_PORT: '0',
    AGENTRUN_LOG_LEVEL: 'debug',
  })
  const worker = await cluster.start('work')
  const urlOf = (output: string) => /"metrics are served",.*?"url":"([^"]+)"/.exec(output)?.[1] ?? ''
  const [api, work] = [urlOf(cluster.api.output), urlOf(worker.output)]
  const ready = async () => (await fetch(`${work}/readyz`)).status
  expect(await ready()).toBe(200)
  const { id } = await cluster.createRun({ prompt: 'x' })
  await cluster.until(id, run => run.waiting_on === 'tool')
  const [served, worked] = await Promise.all([readMetrics(api), readMetrics(work)])
  expect(sampleOf(worked, 'agentrun_build_info', { role: 'work' })).toBe(1)
  expect(sampleOf(worked, 'agentrun_turns_active')).toBe(1)
  expect(
    sampleOf(worked, 'agentrun_http_request_duration_seconds_count', { operation: 'createAgentRun' }),
  ).toBe(undefined)
  expect(sampleOf(served, 'agentrun_build_info', { role: 'serve' })).toBe(1)
  expect(
    sampleOf(served, 'agentrun_http_request_duration_seconds_count', { operation: 'createAgentRun' }),
  ).toBe(1)
  expect(sampleOf(served, 'agentrun_claims_total')).toBe(0)
  worker.child.kill('SIGTERM')
  await expect.poll(ready, patience).toBe(503)
  expect(await (await fetch(`${work}/readyz`)).json()).toEqual({ status: 'stopping' })
  expect((await fetch(`${work}/healthz`)).status).toBe(200)
  expect((await worker.ended).code).toBe(0)
}, 90_000)
