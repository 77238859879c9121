import type { SealContext } from '../secrets/sealing.ts'

/** The contexts to which the secrets of an organization's webhook and of a run's targets are bound. */
export const webhookContext = (organization_id: number): SealContext => ({ organization_id, scope: 'webhook', name: 'agent-run' })
export const runTargetContext = (organization_id: number, url: string): SealContext => ({
  organization_id,
  scope: 'run webhook',
  name: url,
})

/** A stored target of a run (the column holds a JSON list of them), with its secret sealed for that URL in this organization. */
export type StoredTarget = { url: string; key_id?: string; sealed?: string; events?: string[] }
