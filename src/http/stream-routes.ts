import type { FastifyReply, FastifyRequest } from 'fastify'
import { AgentRun } from '../contract/runs.ts'
import type { Feeds } from '../live/feeds.ts'
import type { Context } from '../service/context.ts'
import { eventsSoFar, liveFrame, organizationSource, runSource, type Telling } from '../service/follow.ts'
import { requireRun } from '../service/runs.ts'
import { type OpenStreams, resumePoint, streamEvents } from './event-stream.ts'
import { answerFor } from './wire-profile.ts'

type Input = { params: Record<string, unknown>; query: Record<string, unknown> }
type Stream = (ctx: Context, input: Input, request: FastifyRequest, reply: FastifyReply) => Promise<void>

const tellingOf =
  ({ actor }: Context): Telling =>
  run =>
    answerFor(actor.wire_profile, AgentRun, run)

/** The two streams of decisions §10. */
export function streamHandlers(feeds: Feeds, open: OpenStreams): { streamAgentRunEvents: Stream; streamOrganizationEvents: Stream } {
  const sweep = () => feeds.sweep()
  return {
    async streamAgentRunEvents(ctx, input, request, reply) {
      const run_id = Number(input.params.agent_run_id)
      const cursor = resumePoint(request, input.query.after_seq as number | undefined)
      await requireRun(ctx.db, ctx.organization_id, run_id)
      const source = runSource(ctx.db, ctx.base_url, ctx.organization_id, run_id, tellingOf(ctx))
      const feed = feeds.run(ctx.organization_id, run_id, ctx.actor.wire_profile, source, liveFrame)
      streamEvents(request, reply, feed, cursor, open, sweep)
    },
    /** Without a place to resume from it starts now: who wants what was before asks for the list. */
    async streamOrganizationEvents(ctx, input, request, reply) {
      const given = input.query.after_seq as number | undefined
      const resumes = given !== undefined || Boolean(request.headers['last-event-id'])
      const cursor = resumes ? resumePoint(request, given) : await eventsSoFar(ctx.db, ctx.organization_id)
      const source = organizationSource(ctx.db, ctx.base_url, ctx.organization_id, tellingOf(ctx))
      const feed = feeds.organization(ctx.organization_id, ctx.actor.wire_profile, source)
      streamEvents(request, reply, feed, cursor, open, sweep)
    },
  }
}
