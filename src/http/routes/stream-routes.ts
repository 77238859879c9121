import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Scope } from '../../contract/endpoint.ts'
import { endpoints } from '../../contract/endpoints.ts'
import { AgentRun } from '../../contract/runs/runs.ts'
import type { Feeds } from '../../live/feeds.ts'
import type { Context } from '../../service/context.ts'
import {
  eventsSoFar,
  liveFrame,
  organizationSource,
  type RunWording,
  runSource,
} from '../../service/runs/event-sources.ts'
import { requireRun } from '../../service/runs/runs.ts'
import { resumePoint, streamEvents, streamHead } from '../event-stream.ts'
import { type OpenStream, type OpenStreams, requireRoom } from '../open-streams.ts'
import { responseFor } from '../wire-profile.ts'

type Input = { params: Record<string, unknown>; query: Record<string, unknown> }
type Stream = (ctx: Context, input: Input, request: FastifyRequest, reply: FastifyReply) => Promise<void>

const wordingOf =
  ({ actor }: Context): RunWording =>
  run =>
    responseFor(actor.wire_profile, AgentRun, run)

/** Returns the handlers of the two streams of specification.md#events. */
export function streamHandlers(
  feeds: Feeds,
  open: OpenStreams,
): { streamAgentRunEvents: Stream; streamOrganizationEvents: Stream } {
  /**
   * Returns a function that refers to nothing of the request, which would otherwise stay in memory as long as
   * its stream.
   */
  const openedBy = ({ actor: { token_id, user_id }, organization_id }: Context, scope: Scope) => {
    requireRoom(open, user_id)
    return openedFor({ token_id, user_id, organization_id, scope })
  }
  const openedFor = (holder: Omit<OpenStream, 'end'>) => (end: () => void) => {
    const stream = { ...holder, end }
    open.add(stream)
    return () => {
      open.delete(stream)
      feeds.sweep()
    }
  }
  return {
    async streamAgentRunEvents(ctx, input, request, reply) {
      const run_id = Number(input.params.agent_run_id)
      const cursor = resumePoint(request, input.query.after_seq as number | undefined)
      await requireRun(ctx.db, ctx.organization_id, run_id)
      if (request.method === 'HEAD') return streamHead(reply)
      // A refusal must leave no feed without readers.
      const opened = openedBy(ctx, endpoints.streamAgentRunEvents.scope)
      const source = runSource(ctx.db, ctx.base_url, ctx.organization_id, run_id, wordingOf(ctx))
      const feed = feeds.run(ctx.organization_id, run_id, ctx.actor.wire_profile, source, liveFrame)
      streamEvents(request, reply, { feed, cursor, opened })
    },
    /** Starts at the newest event without a position to resume from: the list has what was before. */
    async streamOrganizationEvents(ctx, input, request, reply) {
      const given = input.query.after_seq as number | undefined
      const resumes = given !== undefined || Boolean(request.headers['last-event-id'])
      const cursor = resumes ? resumePoint(request, given) : await eventsSoFar(ctx.db, ctx.organization_id)
      if (request.method === 'HEAD') return streamHead(reply)
      const opened = openedBy(ctx, endpoints.streamOrganizationEvents.scope)
      const source = organizationSource(ctx.db, ctx.base_url, ctx.organization_id, wordingOf(ctx))
      const feed = feeds.organization(ctx.organization_id, ctx.actor.wire_profile, source)
      streamEvents(request, reply, { feed, cursor, opened })
    },
  }
}
