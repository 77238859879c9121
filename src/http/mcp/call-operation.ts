import type { FastifyReply, FastifyRequest } from 'fastify'
import type { Endpoint } from '../../contract/endpoint.ts'
import { DEFAULT_WAIT_SECONDS } from '../../contract/mcp/run-wait.ts'
import type { AgentRun } from '../../contract/runs/runs.ts'
import { deadline } from '../../core/deadline.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import { Replay } from '../../service/access/idempotency.ts'
import { requireReach } from '../../service/access/reach.ts'
import type { ActorContext, Context, Services } from '../../service/context.ts'
import { listOrganizations } from '../../service/organizations/organizations.ts'
import { waitForRun } from '../../service/runs/await-run.ts'
import { admit } from '../admission.ts'
import type { FailedTokens } from '../failed-tokens.ts'
import { handlers } from '../handlers.ts'
import { type OpenStreams, signalGone } from '../open-streams.ts'
import { parseInput } from '../parse-input.ts'
import { RawResponse } from '../results/raw-response.ts'
import { chargeStandard } from './charge-standard.ts'
import { type ToolRequest, toolRequest } from './tool-input.ts'
import type { Tool } from './tool-table.ts'

export type McpEdge = {
  services: Services
  failed: FailedTokens
  open: OpenStreams
  /** Called when a call waits, so that one which began during a shutdown ends, too. */
  onStream: () => void
}

/** One message: the HTTP request that brought it, whose token was checked, and what ends the call early. */
export type McpCall = {
  edge: McpEdge
  request: FastifyRequest
  reply: FastifyReply
  caller: ActorContext
  /** Aborts when the response has been sent or its client has gone. */
  closed: AbortSignal
  cancelled: AbortSignal
  /**
   * The name by which a client of revision 2025-11-25 cancels the call (cancelled-calls.ts); null: it cannot.
   */
  cancel_name: string | null
  /** Receives each state of a run that is waited for. */
  onRun: (run: AgentRun) => void
}

type AnyHandler = (ctx: unknown, input: unknown, gone: () => AbortSignal) => Promise<unknown>
type Input = { params: unknown; query: unknown; body: unknown }

/**
 * Calls an operation with the arguments of a tool: authenticate → membership → rate limit → parse → verb, as
 * for its HTTP request. Returns the JSON of a success in the words of the profile `standard`, and the
 * organization. Throws what the HTTP request would respond with.
 */
export async function callOperation(
  call: McpCall,
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
): Promise<unknown> {
  const { endpoint } = tool
  const request = await requestOf(call, tool, args).catch(async error => {
    await chargeStandard(call)
    throw error
  })
  const ctx = await admitCall(call, endpoint, request)
  const input = parseInput(endpoint, request)
  await requireReach(ctx, endpoint, input)
  const gone = () => signalOf(call, ctx as Context, endpoint)
  if (tool.operation === null) return wait(ctx as Context, input, gone(), call.onRun)
  return plainJson(await (handlers[tool.operation] as AnyHandler)(ctx, input, gone))
}

async function requestOf(
  call: McpCall,
  tool: Tool,
  args: Readonly<Record<string, unknown>>,
): Promise<ToolRequest> {
  const request = toolRequest(tool, args)
  if ('org_id' in tool.endpoint.params.shape) request.params.org_id ??= String(await organizationOf(call))
  return request
}

async function admitCall(
  { edge, request, caller }: McpCall,
  endpoint: Endpoint,
  { params, query, idempotency_keys }: ToolRequest,
) {
  const { services, failed } = edge
  const { ip, id, traceparent } = request
  const { authorization = [] } = request.raw.headersDistinct
  const headersDistinct = {
    authorization,
    ...(idempotency_keys.length > 0 && { 'idempotency-key': idempotency_keys }),
  }
  const ctx = await admit(
    { services, failed, endpoint },
    { params, query, ip, id, traceparent, wire_profile: caller.actor.wire_profile, raw: { headersDistinct } },
    // A refusal names its delay itself; the headers of the response belong to the message.
    { headers: () => {} },
  )
  // The schemas of the tools are those of the standard profile.
  return { ...ctx, actor: { ...ctx.actor, wire_profile: 'standard' as const } }
}

/** The organization of a call that names none: of the token, or the only one that its user has. */
async function organizationOf({ caller }: McpCall): Promise<number> {
  const { token_organization_id } = caller.actor
  if (token_organization_id !== null) return token_organization_id
  const { items, total } = await listOrganizations(caller, { skip: 0, limit: 5 })
  if (items.length === 1 && items[0] !== undefined) return items[0].id
  if (total === 0) throw new ServiceError('forbidden', 'You do not have access to any organization.')
  const names = items.map(({ id, name }) => `${id} (${name})`).join(', ')
  throw invalid(
    ['arguments', 'org_id'],
    `is required, because you have ${total} organizations: ${names}`,
    'missing',
  )
}

/**
 * Aborts when the call is cancelled or its client has gone, when its token is revoked, and when the service
 * stops.
 */
function signalOf(
  { edge, reply, closed, cancelled, cancel_name }: McpCall,
  ctx: Context,
  endpoint: Endpoint,
): AbortSignal {
  const named = new AbortController()
  if (cancel_name !== null && !closed.aborted) {
    const leave = edge.services.onCancelled(cancel_name, () => named.abort())
    closed.addEventListener('abort', () => leave(), { once: true })
  }
  const gone = signalGone(ctx, endpoint, reply, edge.open)
  edge.onStream()
  return AbortSignal.any([gone, cancelled, named.signal])
}

async function wait(ctx: Context, { params, query }: Input, gone: AbortSignal, onRun: McpCall['onRun']) {
  const { agent_run_id } = params as { agent_run_id: number }
  const { timeout_seconds = DEFAULT_WAIT_SECONDS } = query as { timeout_seconds?: number }
  using over = deadline(timeout_seconds * 1_000, gone)
  const waited = await waitForRun(ctx, agent_run_id, over.signal, onRun)
  if (!gone.aborted) return waited
  throw new ServiceError(
    'unavailable',
    'The wait ended early: it was cancelled, the service is stopping, or the token was revoked.',
    {
      headers: { 'retry-after': '2' },
    },
  )
}

/** Returns a result of a handler as JSON, whichever form it has. */
function plainJson(result: unknown): unknown {
  if (result instanceof Replay) return storedJson<unknown>(result.text)
  if (!(result instanceof RawResponse)) return JSON.parse(JSON.stringify(result))
  return storedJson<unknown>(typeof result.body === 'string' ? result.body : result.body.toString('utf8'))
}
