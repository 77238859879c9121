import { createHash } from 'node:crypto'
import { ServiceError } from '../../core/service-error.ts'
import { beginKey, isKnownKey, type KeyOwner, lockKey, saveAnswer, takeKey } from '../../store/access/idempotency-keys.ts'
import { joined } from '../../store/database.ts'
import type { ActorContext, Context, Services } from '../context.ts'
import type { Charged, Who } from './limits.ts'

const wait_ms = 5_000

/** An answer that was given before, as JSON text. */
export class Replay {
  readonly answer: string
  constructor(answer: string) {
    this.answer = answer
  }
}

/**
 * Charges a request that names a key: the first of that key as what it is, any other to the standard and total windows (specification.md#create-and-resume). The
 * key is known from here on, so that of twenty at once one is the first.
 */
export function chargeOnce(services: Services, who: Who, owner: KeyOwner): Promise<Charged> {
  return services.db.transaction(async tx => {
    await lockKey(tx, owner)
    const known = await isKnownKey(tx, owner)
    const charged = await services.limiter.charge('agent_creation', who, { known, db: tx })
    if (charged.allowed && !known) await beginKey(tx, owner)
    return charged
  })
}

/**
 * Does `work` once for an idempotency key: work and answer commit together, and the same request with the same key gets that answer again
 * for 24 hours. 422 when the key was used for another request, 409 when the first is still at work after 5 s. Without a key it is just
 * the work. What is refused is not kept: it may be sent again.
 */
export async function once<T>(ctx: Context, operation: string, body: unknown, work: (ctx: Context) => Promise<T>): Promise<T | Replay> {
  const owner = keyOwner(ctx)
  if (owner === null) return work(ctx)
  // With the bound of the token: another token of the same user may not be shown that answer.
  const request_digest = createHash('sha256')
    .update(JSON.stringify([operation, body, ctx.actor.repository_ids]))
    .digest()
  return ctx.db.transaction(async tx => {
    const found = await take(tx, owner)
    if (found.request_digest !== null && !found.request_digest.equals(request_digest))
      throw new ServiceError('idempotency_mismatch', 'This Idempotency-Key was used for another request. Use a new key for a new request.')
    if (found.answer !== null) return new Replay(found.answer)
    const result = await work({ ...ctx, db: joined(tx) })
    await saveAnswer(tx, owner, request_digest, JSON.stringify(result))
    return result
  })
}

function keyOwner(ctx: ActorContext & { organization_id: number }): KeyOwner | null {
  if (ctx.idempotency_key === null) return null
  return { organization_id: ctx.organization_id, user_id: ctx.actor.user_id, key: ctx.idempotency_key }
}

async function take(tx: Parameters<typeof takeKey>[0], owner: KeyOwner) {
  try {
    return (await takeKey(tx, owner, wait_ms)) ?? { request_digest: null, answer: null }
  } catch (error) {
    if ((error as { code?: string }).code !== '55P03') throw error
    throw new ServiceError('conflict', 'A request with this Idempotency-Key is still at work. Send it again in a moment.', {
      headers: { 'retry-after': '1' },
    })
  }
}
