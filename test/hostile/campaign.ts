import { connect } from 'node:net'
import { pathsOf } from '../../src/contract/endpoint.ts'
import { endpoints } from '../../src/contract/endpoints.ts'
import { oauthOperations } from '../../src/contract/oauth/oauth-endpoints.ts'
import { gitOperations } from '../../src/contract/pull-requests/git-operations.ts'
import { addCaller } from '../api/access/add-caller.ts'
import { addTenant } from '../api/access/second-organization.ts'
import { type Random, seeded } from '../chaos/random.ts'
import { jsonAttempt, jsonTargets } from './json-attempts.ts'
import { operationAttempts } from './operation-attempts.ts'
import { gitAttempt, methodAttempt, streamAttempt } from './other-attempts.ts'
import { rawAttempt } from './raw-attempts.ts'
import { type Attempt, sendBytes } from './send-bytes.ts'
import type { WatchedService } from './watched-service.ts'

const PARALLEL = 20
const PROBE_EACH = 25
/** A probe that waits longer counts as missed: an orchestrator would have given up. */
const PROBE_MS = 10_000
/** Streams that are open at once. */
const STREAMS = 100

export type Campaign = {
  /** Responses by status, over all rounds. */
  statuses: Record<number, number>
  /** What the service did not finish, and responses of 5xx, by the kind of request. */
  unfinished: Record<string, number>
  failures: Record<string, number>
  /** Requests that a limit of their client refused: 429 to the only request of a connection. */
  limited(): number
  sent(): number
  /** Requests to `/healthz`, one after each `PROBE_EACH` others, and how many of them got no 200. */
  probes(): number
  missed(): number
  /**
   * Sends this number of requests, several at once, beside this number of slow clients, and then opens and
   * drops many streams.
   */
  round(count: number, slow: number): Promise<void>
}

/** `hook`: the path of the deliveries of a connected forge. Requests are the same for each `seed`. */
export async function createCampaign(service: WatchedService, hook: string, seed: number): Promise<Campaign> {
  const random = seeded(seed)
  const next = await attempts(service, hook, { random, seed })
  const statuses: Campaign['statuses'] = {}
  const unfinished: Campaign['unfinished'] = {}
  const failures: Campaign['failures'] = {}
  const count = (counts: Record<string, number>, key: string) => {
    counts[key] = (counts[key] ?? 0) + 1
  }
  let limited = 0
  let [sent, probes, missed] = [0, 0, 0]
  const send = async (attempt: Attempt) => {
    if (sent++ % PROBE_EACH === 0) {
      probes++
      if (!(await isHealthy(service.base_url))) missed++
    }
    const outcome = await sendBytes(service.base_url, attempt)
    for (const status of outcome.statuses) {
      count(statuses, `${status}`)
      if (status >= 500) count(failures, `${status} ${attempt.name}`)
    }
    if (outcome.statuses.length === 1 && outcome.statuses[0] === 429) limited++
    if (outcome.unfinished) count(unfinished, attempt.name)
  }
  return {
    statuses,
    unfinished,
    failures,
    limited: () => limited,
    sent: () => sent,
    probes: () => probes,
    missed: () => missed,
    async round(total, slow_clients) {
      const slow = Array.from({ length: slow_clients }, (_, i) => slowClient(service.base_url, i))
      let begun = 0
      const sender = async () => {
        while (begun++ < total) await send(next.one())
      }
      await Promise.all(Array.from({ length: PARALLEL }, sender))
      await Promise.all(Array.from({ length: STREAMS }, () => send(next.stream())))
      // The service ends them: their bytes never come.
      await Promise.all(slow)
    },
  }
}

const HOST = 'host: localhost\r\n'
/** The service would refuse a body at another path before it reads it. */
const partial_body = `POST /session HTTP/1.1\r\n${HOST}content-type: application/json\r\ncontent-length: 99\r\n\r\n{`
const incomplete = ['G', `GET / HTTP/1.1\r\n${HOST}`, partial_body]

async function isHealthy(base_url: string): Promise<boolean> {
  try {
    const signal = AbortSignal.timeout(PROBE_MS)
    const response = await fetch(`${base_url}/healthz`, { signal, headers: { connection: 'close' } })
    await response.arrayBuffer()
    return response.status === 200
  } catch {
    return false
  }
}

/** Resolves when the service has closed the connection of a client whose request never ends. */
function slowClient(base_url: string, i: number): Promise<void> {
  const { hostname, port } = new URL(base_url)
  const { promise, resolve } = Promise.withResolvers<void>()
  const socket = connect({ host: hostname, port: Number(port) })
  socket.on('error', () => {}).on('close', () => resolve())
  socket.resume().write(incomplete[i % incomplete.length] ?? '')
  return promise
}

type CampaignSeed = { random: Random; seed: number }
/** The mix of requests. */
async function attempts(service: WatchedService, hook: string, { random, seed }: CampaignSeed) {
  const attacker = await addTenant(service, 'Attacker')
  const strangers = [
    attacker.token,
    'arun_p_unknown',
    '',
    await addCaller(service, [attacker.org_id], 'READER'),
  ]
  const of_repository = [
    await addCaller(service, [1], 'READER'),
    await addCaller(service, [1], 'ADMIN'),
    ...strangers,
  ]
  const at = `/v1/organizations/${attacker.org_id}`
  const paths = [
    ...[...Object.values(endpoints), ...Object.values(oauthOperations)].flatMap(pathsOf),
    ...Object.values(gitOperations).map(({ path }) => path),
    ...['/mcp', '/', '/oauth/authorize', '/assets/x', '/.well-known/oauth-protected-resource/mcp', '*'],
  ].map(path => path.replace('{org_id}', `${attacker.org_id}`).replace(/\{\w+\}/g, `${attacker.run_id}`))
  const streams = [`${at}/events`, `${at}/agent/run/${attacker.run_id}/events`, '/mcp']
  const targets = jsonTargets(at, hook, attacker.token)
  // A stream would never end by itself.
  const raw = {
    paths: paths.filter(path => !path.endsWith('/events')),
    auth: `authorization: Bearer ${attacker.token}\r\n`,
  }
  const operation = await operationAttempts(service, seed, strangers)
  const stream = () => streamAttempt(random, streams, strangers)
  const one = () => {
    const part = random.next()
    if (part < 0.5) return operation.next(random)
    if (part < 0.7) return rawAttempt(random, raw)
    if (part < 0.82) return jsonAttempt(random, targets)
    if (part < 0.92) return methodAttempt(random, paths, strangers)
    if (part < 0.97) return gitAttempt(random, '/git/1/1.git', of_repository)
    return stream()
  }
  return { one, stream }
}
