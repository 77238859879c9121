import type { FastifyReply } from 'fastify'
import type { Endpoint } from '../contract/endpoint.ts'
import { type StreamHolder, stillMay } from '../service/access/authenticate.ts'
import type { Context, Services } from '../service/context.ts'

const LOOK_MS = 1_000

/** A stream that is open: who reads it, and how to end it. */
export type OpenStream = StreamHolder & { end: () => void }

/** Every open stream of this process, so that a shutdown can end them, and a revocation those of its token. */
export type OpenStreams = Set<OpenStream>

/**
 * A signal for a request that waits: aborted when the client disconnects before the response, and when a stream of the same token would be
 * ended, by a revocation or a shutdown.
 */
export function signalGone(ctx: Context, { scope }: Pick<Endpoint, 'scope'>, { raw }: FastifyReply, open: OpenStreams): AbortSignal {
  const controller = new AbortController()
  const request = { token_id: ctx.actor.token_id, organization_id: ctx.organization_id, scope, end: () => controller.abort() }
  open.add(request)
  raw.once('close', () => {
    open.delete(request)
    controller.abort()
  })
  if (raw.destroyed) controller.abort()
  return controller.signal
}

/**
 * Ends streams whose token was revoked or has expired, or whose user lost the role for it: a request is asked once, a stream every second.
 * One statement for all of them, none while there is no stream; when the database is away they stay, because nothing new comes then.
 */
export function watchStreams(services: Services, open: OpenStreams): () => void {
  let asking = false
  const look = async () => {
    const streams = [...open]
    const allowed = await stillMay(services, streams)
    for (const [n, stream] of streams.entries()) if (!allowed[n]) stream.end()
  }
  const timer = setInterval(() => {
    if (asking || open.size === 0) return
    asking = true
    void look()
      .catch(() => {})
      .finally(() => {
        asking = false
      })
  }, LOOK_MS)
  timer.unref()
  return () => clearInterval(timer)
}
