import { deliveryStates } from '../../../api/names.ts'
import { Badge } from '../../../ui/badge.tsx'
import type { Delivery } from './webhooks-query.ts'

const tones = { pending: 'neutral', delivered: 'ok', failed: 'bad' } as const

/** The state of a delivery, with the last status of the receiver. */
export const DeliveryState = ({ state, last_status }: Pick<Delivery, 'state' | 'last_status'>) => (
  <span className="inline-flex items-center gap-2">
    <Badge tone={tones[state]}>{deliveryStates[state]}</Badge>
    {last_status !== null && <span className="tabular text-faint">{last_status}</span>}
  </span>
)
