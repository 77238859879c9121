import { randomBytes } from 'node:crypto'
import { storedJson } from '../json/stored-json.ts'
import type { SealContext, SealedValue, Sealer } from '../secrets/sealing.ts'

/** The secrets of a connection to a forge. `webhook` signs the deliveries of the forge. */
export type ForgeSecrets = ({ token: string } | { private_key: string }) & { webhook: string }

/**
 * Returns the forge and the organization that the secrets are bound to: they are never sent to another forge.
 */
export const forgeSealContext = (organization_id: number, url: string): SealContext => ({
  organization_id,
  scope: 'forge',
  name: url,
})

export const sealForgeSecrets = (
  sealer: Sealer,
  organization_id: number,
  url: string,
  secrets: ForgeSecrets,
): SealedValue => sealer.seal(forgeSealContext(organization_id, url), JSON.stringify(secrets))

/** Returns the secrets, or null when no configured key opens them. */
export function openForgeSecrets(
  sealer: Sealer,
  row: SealedValue & { organization_id: number; url: string },
): ForgeSecrets | null {
  try {
    return storedJson<ForgeSecrets>(sealer.open(forgeSealContext(row.organization_id, row.url), row))
  } catch {
    return null
  }
}

export const newWebhookSecret = (): string => randomBytes(32).toString('hex')
