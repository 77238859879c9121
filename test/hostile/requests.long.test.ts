import { describe, expect, test } from 'vitest'
import { type Campaign, createCampaign } from './campaign.ts'
import { call, neighbour, script, stopRuns, storedRuns } from './neighbours.ts'
import { keepResult } from './result.ts'
import { type Measurement, startWatchedService, type WatchedService } from './watched-service.ts'

/** `TEST_SOAK=1` sends 100,000 requests to one process, `TEST_SEED=7` others. */
const soak = process.env.TEST_SOAK === '1'
const seed = Number(process.env.TEST_SEED ?? 1)
const REQUESTS = soak ? 100_000 : 1_200
const ROUNDS = soak ? 4 : 2
/**
 * The service waits 30 s for the body of a slow client, so that only one round of the ordinary test has some.
 */
const SLOW_CLIENTS = 100
/**
 * What the last half of the requests may leave in memory: 50,000 of them stay below it only when almost none
 * leaves anything.
 */
const MAX_GROWTH = 24 * 1024 ** 2
/** The only 5xx that the document describes for a working service: there is no Slack app. */
const isDescribed = (failure: string) => /^501 .*slack-connect/.test(failure)
const patience = { timeout: 120_000, interval: 500 }

const limits = [
  ...[
    'STANDARD',
    'AGENT_CREATION',
    'SETUP_COMMANDS',
    'LOG_ANALYSIS',
    'TOOL_EXECUTION',
    'RECORDING',
    'TOKEN_TOTAL',
    'SESSION',
  ],
  'FAILED_TOKENS',
]
const unlimited = Object.fromEntries(limits.map(name => [`AGENTRUN_LIMIT_${name}`, 'off']))

/**
 * Threads for redaction start when they are needed and stay, and the one for leases ends after a minute
 * without runs.
 */
const MAX_MORE_LOOPS = 3
const withoutPool = ({ descriptors, connections, descriptors_of_loops }: Measurement) =>
  descriptors - connections - descriptors_of_loops

/** Descriptors are back to those of the start, without what threads and the pool of the database hold. */
async function measured(service: WatchedService, start: Measurement): Promise<Measurement> {
  await stopRuns(service)
  await expect
    .poll(async () => withoutPool(await service.measure()), patience)
    .toBeLessThanOrEqual(withoutPool(start))
  const now = await service.measure()
  expect(now.event_loops).toBeLessThanOrEqual(start.event_loops + MAX_MORE_LOOPS)
  return now
}

/** One part of the campaign, while runs of the neighbour proceed. */
async function round(
  service: WatchedService,
  campaign: Campaign,
  requests: number,
  slow: number,
): Promise<void> {
  const others = ['x', 'x', 'x'].map(prompt => neighbour(service, { prompt }))
  // It sends a hostile body to the gateway, which refuses it.
  const program = neighbour(service, { prompt: 'do: call values 100000 | say Done.', agent_type: 'program' })
  const [ends, of_program] = await Promise.all([Promise.all(others), program, campaign.round(requests, slow)])
  expect(of_program).toEqual(['failed', 'rejected'])
  expect(ends).toEqual(Array(3).fill(['completed', 'Done.']))
}

const cases: [name: string, env: Record<string, string>, requests: number][] = [
  ['without limits', unlimited, REQUESTS],
  ['with the default limits', {}, 600],
]

describe(`random and hostile requests (TEST_SEED=${seed}) end no process, leave nothing behind and stop no run of others`, () => {
  test.each(cases)(
    '%s',
    async (name, env, requests) => {
      await using service = await startWatchedService(script, { AGENTRUN_WORKER_CONCURRENCY: '2', ...env })
      const gitea = { url: 'http://127.0.0.1:9', token: 't', webhook_secret: 'x'.repeat(32) }
      const connect = { token: service.token, method: 'PUT', path: '1/integrations/gitea', body: gitea }
      const { webhook_url } = await call(service, connect)
      expect(await neighbour(service, { prompt: 'x' })).toEqual(['completed', 'Done.'])
      const campaign = await createCampaign(service, new URL(webhook_url).pathname, seed)
      const taken = [await service.measure()]
      const [start] = taken as [Measurement]
      for (let n = 0; n < ROUNDS; n++) {
        const slow = env === unlimited && (soak || n === 0) ? SLOW_CLIENTS : 0
        await round(service, campaign, requests / ROUNDS, slow)
        taken.push(await measured(service, start))
      }
      keepResult({ name, seed, soak: soak && requests === REQUESTS, taken, campaign })
      expect(Object.keys(campaign.failures).filter(failure => !isDescribed(failure))).toEqual([])
      expect(campaign.unfinished).toEqual({})
      expect([campaign.probes() > 0, campaign.missed()]).toEqual([true, 0])
      expect(campaign.limited() > 0).toBe(env !== unlimited)
      expect(await storedRuns(service)).toEqual({ runs: 1 + 3 * ROUNDS, damaged: [] })
      expect(service.logged('error')).toEqual([])
      expect(service.exitCode()).toBe(null)
      expect(new Set(taken.map(({ pid }) => pid)).size).toBe(1)
      const [middle, end] = [taken[ROUNDS / 2], taken[ROUNDS]] as [Measurement, Measurement]
      expect(end.heap + end.external - middle.heap - middle.external).toBeLessThan(MAX_GROWTH)
      expect((await service.stop()).code).toBe(0)
    },
    soak ? 7_200_000 : 600_000,
  )
})
