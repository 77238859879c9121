import { randomUUID } from 'node:crypto'
import type { FastifyRequest } from 'fastify'
import type { ActorContext } from '../../service/context.ts'
import { cancelWait } from '../../service/runs/await-run.ts'

/**
 * A client of revision 2025-11-25 cancels a call by another message, with the id that the call has in its
 * connection. So the response to `initialize` names the connection, as a session: no process stores it, and
 * none requires it. A client of the newer revision disconnects.
 */
const SESSION_HEADER = 'mcp-session-id'

export const connectionHeader = () => ({ [SESSION_HEADER]: randomUUID() })

/**
 * Returns the name of a call among all calls: only a message with the same token can name it. Null when the
 * connection has no name.
 */
export function cancelName(
  { headers }: FastifyRequest,
  { actor }: ActorContext,
  call_id: unknown,
): string | null {
  const session = headers[SESSION_HEADER]
  if (typeof session !== 'string' || !/^[\x21-\x7e]{1,100}$/.test(session)) return null
  const id = typeof call_id === 'string' || typeof call_id === 'number' ? JSON.stringify(call_id) : ''
  return id === '' || id.length > 200 ? null : `${actor.token_id} ${session} ${id}`
}

/** Cancels the call that a `notifications/cancelled` names, in whichever process it waits. */
export async function cancelNamed(request: FastifyRequest, ctx: ActorContext): Promise<void> {
  const { params } = request.body as { params?: { requestId?: unknown } | null }
  const name = cancelName(request, ctx, params?.requestId)
  if (name !== null) await cancelWait(ctx, name)
}
