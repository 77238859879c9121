import type { Log } from '../core/log.ts'
import type { KnownValue } from '../core/redaction/redact.ts'
import type { Sealer } from '../core/secrets/sealing.ts'
import type { Outgoing } from '../egress/connect-checked.ts'
import type { Transactional } from '../store/database.ts'
import type { Telemetry } from '../telemetry/port.ts'

/** What deliveries are made with. Made once, by main. */
export type WebhookDeps = {
  db: Transactional
  sealer: Sealer
  /** Credentials of this process, which nothing that goes out may hold. */
  known_values: readonly KnownValue[]
  /** How far the attempts of one organization go; each has name servers asked for itself. */
  outgoing(organization_id: number): Outgoing
  /** Asked when a message is made: the API of the same process has its address late. */
  base_url(): string
  log: Log
  telemetry: Telemetry
}
