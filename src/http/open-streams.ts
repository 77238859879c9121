import type { FastifyReply } from 'fastify'
import type { Endpoint } from '../contract/endpoint.ts'
import { limits } from '../contract/limits.ts'
import { ServiceError } from '../core/service-error.ts'
import { checkStreamAccess, type StreamHolder } from '../service/access/authenticate.ts'
import type { Context, Services } from '../service/context.ts'

const POLL_INTERVAL_MS = 1_000

/** An open stream: its reader, and how to end it. */
export type OpenStream = StreamHolder & { user_id: number; end: () => void }

/**
 * Every open stream of this process, so that a shutdown can end them, and a revocation those of its token.
 */
export type OpenStreams = Set<OpenStream>

/**
 * Throws 429 when the user has too many open. Each takes a file descriptor for as long as its client likes:
 * without a limit one user could use them all, and nobody else could connect.
 */
export function requireRoom(open: OpenStreams, user_id: number): void {
  let own = 0
  for (const stream of open) if (stream.user_id === user_id) own++
  if (own >= limits.open_streams)
    throw new ServiceError(
      'rate_limited',
      `A user may have at most ${limits.open_streams} streams and waiting requests open.`,
      {
        headers: { 'retry-after': '1' },
      },
    )
}

/**
 * Returns a signal for a request that waits: it aborts when the client disconnects before the response, and
 * when a stream of the same token would be ended, by a revocation or a shutdown. Throws 429 as `requireRoom`.
 */
export function signalGone(
  ctx: Context,
  { scope }: Pick<Endpoint, 'scope'>,
  { raw }: FastifyReply,
  open: OpenStreams,
): AbortSignal {
  // Its `close` was emitted already.
  if (raw.destroyed) return AbortSignal.abort()
  const { token_id, user_id } = ctx.actor
  requireRoom(open, user_id)
  const controller = new AbortController()
  const request = {
    token_id,
    user_id,
    organization_id: ctx.organization_id,
    scope,
    end: () => controller.abort(),
  }
  open.add(request)
  raw.once('close', () => {
    open.delete(request)
    controller.abort()
  })
  return controller.signal
}

/**
 * Ends streams whose token was revoked or has expired, or whose user lost the role for it: a request is
 * checked once, a stream every second. One statement checks all of them. While the database is unavailable
 * they stay open, because nothing new arrives then.
 */
export function watchStreams(services: Services, open: OpenStreams): () => void {
  let polling = false
  const poll = async () => {
    const streams = [...open]
    const allowed = await checkStreamAccess(services, streams)
    for (const [n, stream] of streams.entries()) if (!allowed[n]) stream.end()
  }
  const timer = setInterval(() => {
    if (polling || open.size === 0) return
    polling = true
    void poll()
      .catch(() => {})
      .finally(() => {
        polling = false
      })
  }, POLL_INTERVAL_MS)
  timer.unref()
  return () => clearInterval(timer)
}
