import type { ActorContext, Services } from '../../service/context.ts'
import { charge, type RateHeaders } from '../admission.ts'

type Message = { edge: { services: Services }; caller: ActorContext }

/** Charges a message that reaches no operation, which would charge it. Throws 429. */
export async function chargeStandard(
  { edge, caller }: Message,
  headers: RateHeaders = { headers: () => {} },
) {
  const { token_id, user_id, kind } = caller.actor
  const who = { token_id, user_id, browser: kind === 'browser', organization_id: null }
  await charge(edge.services, { bucket: 'standard' }, who, null, headers)
}
