import { loadavg } from 'node:os'
import { describe, expect, test } from 'vitest'
import { addCaller } from '../api/access/add-caller.ts'
import type { FakeScript } from '../model/fake-server.ts'
import { calls, shell } from '../runs/coding-app.ts'
import { type Campaign, createCampaign } from './campaign.ts'
import { type Measurement, startWatchedService, type WatchedService } from './watched-service.ts'

/** `TEST_MORE=50` sends 100,000 requests, `TEST_SEED=7` others. */
const seed = Number(process.env.TEST_SEED ?? 1)
const more = Number(process.env.TEST_MORE ?? 1)
const ROUNDS = 4
const MIB = 1024 ** 2
/** What the last half of the requests may leave in memory: 50,000 of them stay below it only when almost none leaves anything. */
const MAX_GROWTH = 24 * MIB
const patience = { timeout: 120_000, interval: 500 }

const STEPS = 3
/** Each run of the neighbour takes its steps in order. */
const script: FakeScript = ({ body }) => {
  const done = (body.messages as { role: string }[]).filter(({ role }) => role === 'tool').length
  return done < STEPS ? calls(shell(`echo step ${done + 1}`)) : { text: 'Done.' }
}

const limits = [
  ...['STANDARD', 'AGENT_CREATION', 'SETUP_COMMANDS', 'LOG_ANALYSIS', 'TOOL_EXECUTION', 'RECORDING', 'TOKEN_TOTAL', 'SESSION'],
  'FAILED_TOKENS',
]
const unlimited = Object.fromEntries(limits.map(name => [`AGENTRUN_LIMIT_${name}`, 'off']))

async function call({ base_url }: WatchedService, token: string, path: string, body?: unknown, method = 'POST') {
  const headers = { authorization: `Bearer ${token}`, 'content-type': 'application/json' }
  const init = { method, headers, ...(body !== undefined && { body: JSON.stringify(body) }) }
  const response = await fetch(`${base_url}/v1/organizations/${path}`, init)
  const text = await response.text()
  if (response.status !== 200) throw new Error(`${method} ${path}: ${response.status} ${text}`)
  return JSON.parse(text)
}

type ActiveRun = { id: number; organization_id: number }
/** Read from the database, because the limits of clients count each request. */
async function activeRuns({ db }: WatchedService): Promise<ActiveRun[]> {
  const text = `select id, organization_id from runs where status not in ('completed', 'failed', 'cancelled')`
  return (await db.query<ActiveRun>({ text, values: [] })).rows
}

/** The status of a run of organization 1 at its end, and its result or what failed. Each has a token of its own. */
async function neighbour(service: WatchedService, body: Record<string, unknown>): Promise<unknown[]> {
  const token = await addCaller(service, [1], 'ADMIN')
  const { id } = await call(service, token, '1/agent/run', body)
  const isActive = async () => (await activeRuns(service)).some(run => run.id === id)
  await expect.poll(isActive, patience).toBe(false)
  const { status, result, error } = await call(service, token, `1/agent/run/${id}`, undefined, 'GET')
  return [status, error?.code ?? result]
}

/** Stops what the attackers have started, and waits until no run is active. */
async function stopRuns(service: WatchedService): Promise<void> {
  for (const { id, organization_id } of await activeRuns(service)) {
    const token = await addCaller(service, [organization_id], 'ADMIN')
    await call(service, token, `${organization_id}/agent/run/stop`, { agent_run_id: id })
  }
  await expect.poll(async () => (await activeRuns(service)).length, patience).toBe(0)
}

const besides = ({ descriptors, connections }: Measurement) => descriptors - connections

function report(name: string, taken: Measurement[], { statuses, failures, unfinished }: Campaign): void {
  const sent = Object.values(statuses).reduce((sum, number) => sum + number, 0)
  console.info(name, `${sent} responses, load ${loadavg()[0]?.toFixed(1)}`, statuses)
  for (const { rss, heap, external, descriptors, connections, longest_stall_ms } of taken) {
    const [resident, used, outside] = [rss, heap, external].map(bytes => `${Math.round(bytes / MIB)} MiB`)
    console.info(`resident ${resident}, heap ${used}, external ${outside}, descriptors ${descriptors}, of them`)
    console.info(`${connections} connections of the database; longest stall ${longest_stall_ms.toFixed()} ms of processor time`)
  }
  console.info('5xx', failures, 'not finished', unfinished)
}

async function measured(service: WatchedService, start: Measurement): Promise<Measurement> {
  await stopRuns(service)
  await expect.poll(async () => besides(await service.measure()), patience).toBeLessThanOrEqual(besides(start))
  return service.measure()
}

describe('random and hostile requests end no process, leave nothing behind and stop no run of others', () => {
  test.each([
    ['without limits', unlimited, 2_000],
    ['with the default limits', {}, 1_000],
  ])(
    '%s',
    async (name, env, requests) => {
      await using service = await startWatchedService(script, { AGENTRUN_WORKER_CONCURRENCY: '2', ...env })
      const gitea = { url: 'http://127.0.0.1:9', token: 't', webhook_secret: 'x'.repeat(32) }
      const { webhook_url } = await call(service, service.token, '1/integrations/gitea', gitea, 'PUT')
      expect(await neighbour(service, { prompt: 'x' })).toEqual(['completed', 'Done.'])
      const campaign = await createCampaign(service, new URL(webhook_url).pathname, seed)
      const taken = [await service.measure()]
      const [start] = taken as [Measurement]
      const ends: unknown[] = []
      for (let round = 0; round < ROUNDS; round++) {
        const others = ['x', 'x', 'x'].map(prompt => neighbour(service, { prompt }))
        // It sends a hostile body to the gateway, which refuses it.
        const program = neighbour(service, { prompt: 'do: call values 100000 | say Done.', agent_type: 'program' })
        const [of_program, ...of_others] = await Promise.all([program, ...others, campaign.round((requests * more) / ROUNDS)])
        expect(of_program).toEqual(['failed', 'rejected'])
        ends.push(...of_others.slice(0, others.length))
        taken.push(await measured(service, start))
      }
      report(name, taken, campaign)
      expect(ends).toEqual(Array(3 * ROUNDS).fill(['completed', 'Done.']))
      expect(Object.keys(campaign.failures).filter(key => !/^50[13] /.test(key))).toEqual([])
      expect(campaign.unfinished).toEqual({})
      expect(campaign.limited() > 0).toBe(env !== unlimited)
      expect(service.logged('error')).toEqual([])
      expect(service.exitCode()).toBe(null)
      const [middle, end] = [taken[ROUNDS / 2], taken[ROUNDS]] as [Measurement, Measurement]
      expect(end.heap + end.external - middle.heap - middle.external).toBeLessThan(MAX_GROWTH)
      expect((await service.stop()).code).toBe(0)
    },
    600_000 * more,
  )
})
