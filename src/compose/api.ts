import type { Config } from '../config.ts'
import { errorText } from '../core/log.ts'
import { pause } from '../core/pause.ts'
import { ServiceError } from '../core/service-error.ts'
import { settledWithin } from '../core/timeout.ts'
import { createApp } from '../http/app.ts'
import { hostName } from '../http/security-headers.ts'
import { Feeds } from '../live/feeds.ts'
import { createFirstToken, type FirstStartResult } from '../service/access/first-start.ts'
import { newSignInLink } from '../service/access/sessions.ts'
import { workerState } from '../service/runs/worker-state.ts'
import { countSealedOtherwise } from '../store/access/secrets.ts'
import { notifyWatched } from '../store/notify.ts'
import { prepareFirstStart } from './first-start.ts'
import { startForges } from './forges.ts'
import { explainListenError } from './listen-error.ts'
import type { Parts } from './parts.ts'
import { createServices } from './services.ts'

const CLOSE_MS = 500
/** In this time clients see that their idle connections were closed. */
const HANG_UP_MS = 100
const REFRESH_TIMEOUT_MS = 200

export type RunningApi = AsyncDisposable & {
  base_url: string
  started: FirstStartResult
  missing_repository: string | null
  signInLink(): Promise<string>
  /** Creates the first token, of the administrator. Null when there was one, or when the operator sets it. */
  firstToken(): Promise<string | null>
  /** Streams that are open. */
  streams(): number
  /** Reports on `/readyz` that this process stops, and continues to serve. */
  drain(): void
}

function feedsOf({ hub, db, log }: Parts, isClosing: () => boolean): Feeds {
  const on_error = (error: unknown) => {
    // After the last reader has left, a failed read does not matter.
    if (!isClosing()) log('error', 'a stream could not read on; it tries again', { error: errorText(error) })
  }
  // A hint: when it is lost, the next one comes in seconds.
  return new Feeds(hub, on_error, runs => void notifyWatched(db, runs).catch(() => {}))
}

const stopping = () =>
  new ServiceError('unavailable', 'The service is stopping.', { headers: { 'retry-after': '2' } })

/** Serves HTTP until disposed of: then streams end, and requests in progress get their response. */
export async function startApi(parts: Parts): Promise<RunningApi> {
  const { config, db, log } = parts
  const first = await prepareFirstStart(parts)
  await reportUnreadableSecrets(parts)
  const stopped = new AbortController()
  let base_url = ''
  const services = createServices(parts, () => base_url, stopped.signal)
  let draining = false
  let closing = false
  const readiness = await watchReadiness(parts)
  const { app, drain, endStreams, close, streams } = await createApp({
    services,
    feeds: feedsOf(parts, () => closing),
    readiness: () => (draining ? Promise.reject(stopping()) : readiness()),
    web: parts.web,
    failed_tokens: config.AGENTRUN_LIMIT_FAILED_TOKENS,
    trust_proxy: config.AGENTRUN_TRUST_PROXY,
    version: parts.version,
    allowed_hosts: allowedHosts(config),
    cors_origins: config.AGENTRUN_CORS_ORIGINS.split(',').map(origin => origin.trim()),
    telemetry: parts.telemetry,
    log,
  })
  const { AGENTRUN_HOST: host, AGENTRUN_PORT: port } = config
  const address = await app.listen({ host, port }).catch(error => {
    throw explainListenError(error, {
      host_variable: 'AGENTRUN_HOST',
      host,
      port_variable: 'AGENTRUN_PORT',
      port,
    })
  })
  base_url = config.AGENTRUN_BASE_URL ?? address
  const forges = startForges(services, log)
  return {
    base_url,
    ...first,
    signInLink: () => newSignInLink(services, first.started.user_id),
    firstToken: async () =>
      config.AGENTRUN_INIT_TOKEN === undefined
        ? createFirstToken(db, first.started.user_id, config.AGENTRUN_INIT_WIRE_PROFILE)
        : null,
    streams,
    drain() {
      draining = true
      drain()
    },
    async [Symbol.asyncDispose]() {
      drain()
      // Running requests get their response; a connection that is merely open is not waited for, a client
      // that does not read for the grace.
      const cut = setTimeout(
        () => app.server.closeAllConnections(),
        Math.max(CLOSE_MS, config.AGENTRUN_SHUTDOWN_GRACE_SECONDS * 1000),
      )
      const closed = close()
      // Readers of streams come back at once, and must not reuse a connection that is no longer served.
      await pause(HANG_UP_MS)
      closing = true
      endStreams()
      stopped.abort()
      await Promise.all([forges[Symbol.asyncDispose](), closed])
      clearTimeout(cut)
    },
  }
}

async function reportUnreadableSecrets({ db, sealer, log }: Parts): Promise<void> {
  const count = await countSealedOtherwise(db, sealer.key_ids)
  if (count > 0)
    log(
      'error',
      'stored secrets are sealed with another key than AGENTRUN_SECRET_KEY and the previous ones: set them again, or give that key as a previous one',
      { count },
    )
}

/**
 * Health does not wait for a connection of the pool: while all are busy, it reports the last known state of
 * the workers.
 */
async function watchReadiness({ db, version }: Parts) {
  let known = await workerState(db)
  const refresh = async () => {
    known = await workerState(db)
  }
  return async () => {
    await db.ping().catch(() => {
      throw new ServiceError('unavailable', 'The database does not respond.', {
        headers: { 'retry-after': '2' },
      })
    })
    await settledWithin(
      refresh().catch(() => {}),
      REFRESH_TIMEOUT_MS,
    )
    const { sandbox, sandbox_limits, large_repositories, blocked, count, able, slots, busy } = known
    return {
      status: 'ready' as const,
      version,
      database: 'ok' as const,
      workers: blocked === null ? ('ready' as const) : ('blocked' as const),
      workers_reason: blocked,
      sandbox,
      sandbox_limits,
      large_repositories,
      worker_processes: { count, able, slots, busy },
    }
  }
}

/**
 * On loopback only our own names are served, against DNS rebinding; on a public address the operator
 * configures which, or any.
 */
function allowedHosts(config: Config): Set<string> | null {
  const loopback = ['127.0.0.1', 'localhost', '::1'].includes(config.AGENTRUN_HOST)
  if (config.AGENTRUN_ALLOWED_HOSTS.length === 0 && !loopback) return null
  const own = config.AGENTRUN_BASE_URL === undefined ? [] : [hostName(new URL(config.AGENTRUN_BASE_URL).host)]
  return new Set([...config.AGENTRUN_ALLOWED_HOSTS.map(hostName), 'localhost', '127.0.0.1', '::1', ...own])
}
