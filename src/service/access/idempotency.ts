import { createHash } from 'node:crypto'
import { ServiceError } from '../../core/service-error.ts'
import {
  beginKey,
  isKnownKey,
  type KeyOwner,
  lockKey,
  saveResponse,
  takeKey,
} from '../../store/access/idempotency-keys.ts'
import { joined } from '../../store/database.ts'
import type { ActorContext, Context, Services } from '../context.ts'
import type { ChargeResult, Who } from './rate-limiter.ts'

const LOCK_TIMEOUT_MS = 5_000

/** A response that was sent before, as JSON text. */
export class Replay {
  readonly text: string
  constructor(text: string) {
    this.text = text
  }
}

/**
 * Charges a request that names a key: the first request with the key as what it is, any other to the standard
 * and total windows (specification.md#create-and-resume). The key is recorded here, so that of twenty
 * concurrent requests one is the first.
 */
export function chargeOnce(services: Services, who: Who, owner: KeyOwner): Promise<ChargeResult> {
  return services.db.transaction(async tx => {
    await lockKey(tx, owner)
    const known = await isKnownKey(tx, owner)
    const charged = await services.limiter.charge('agent_creation', who, { known, db: tx })
    if (charged.allowed && !known) await beginKey(tx, owner)
    return charged
  })
}

/**
 * Runs `work` once per idempotency key: work and response commit together, and the same request with the same
 * key gets that response again for 24 hours. Throws 422 when the key was used for another request, 409 when
 * the first request is still running after 5 s. Without a key it only runs the work. A refusal is not stored:
 * the request may be sent again.
 */
export async function once<T>(
  ctx: Context,
  operation: string,
  body: unknown,
  work: (ctx: Context) => Promise<T>,
): Promise<T | Replay> {
  const owner = keyOwner(ctx)
  if (owner === null) return work(ctx)
  // Includes the repositories of the token: another token of the same user must not see that response.
  const request_digest = createHash('sha256')
    .update(JSON.stringify([operation, body, ctx.actor.repository_ids]))
    .digest()
  return ctx.db.transaction(async tx => {
    const found = await take(tx, owner)
    if (found.request_digest !== null && !found.request_digest.equals(request_digest))
      throw new ServiceError(
        'idempotency_mismatch',
        'This Idempotency-Key was used for another request. Use a new key for a new request.',
      )
    if (found.answer !== null) return new Replay(found.answer)
    const result = await work({ ...ctx, db: joined(tx) })
    await saveResponse(tx, owner, request_digest, JSON.stringify(result))
    return result
  })
}

function keyOwner(ctx: ActorContext & { organization_id: number }): KeyOwner | null {
  if (ctx.idempotency_key === null) return null
  return { organization_id: ctx.organization_id, user_id: ctx.actor.user_id, key: ctx.idempotency_key }
}

async function take(tx: Parameters<typeof takeKey>[0], owner: KeyOwner) {
  try {
    return (await takeKey(tx, owner, LOCK_TIMEOUT_MS)) ?? { request_digest: null, answer: null }
  } catch (error) {
    if ((error as { code?: string }).code !== '55P03') throw error
    throw new ServiceError(
      'conflict',
      'A request with this Idempotency-Key is still running. Send it again in a moment.',
      {
        headers: { 'retry-after': '1' },
      },
    )
  }
}
