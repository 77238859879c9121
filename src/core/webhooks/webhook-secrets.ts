import type { SealContext } from '../secrets/sealing.ts'

/** Returns the context to which the secrets of an organization's webhook are bound. */
export const webhookContext = (organization_id: number): SealContext => ({
  organization_id,
  scope: 'webhook',
  name: 'agent-run',
})
/** Returns the context to which the secrets of a run's own webhook targets are bound. */
export const runTargetContext = (organization_id: number, url: string): SealContext => ({
  organization_id,
  scope: 'run webhook',
  name: url,
})

/**
 * A stored target of a run (the column holds a JSON list of them), with its secret sealed for that URL in
 * this organization.
 */
export type StoredTarget = { url: string; key_id?: string; sealed?: string; events?: string[] }
