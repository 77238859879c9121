import type { Log } from '../core/log.ts'
import type { KnownValue } from '../core/secrets/known-value.ts'
import type { Sealer } from '../core/secrets/sealing.ts'
import type { Outgoing } from '../egress/connect-checked.ts'
import type { Transactional } from '../store/database.ts'
import type { Telemetry } from '../telemetry/port.ts'

/** Dependencies of deliveries. */
export type WebhookServices = {
  db: Transactional
  sealer: Sealer
  /** Credentials of this process, which are redacted from every message. */
  known_values: readonly KnownValue[]
  /** The network access of one organization's attempts, each with its own resolver. */
  outgoing(organization_id: number): Outgoing
  /** Read when a message is built: the API of the same process knows its address late. */
  base_url(): string
  log: Log
  telemetry: Telemetry
}
