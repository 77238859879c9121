import type { SealPlace } from '../secrets/sealing.ts'

/** To what the secret of an organization's webhook is bound, and of a run's. */
export const webhookPlace = (organization_id: number): SealPlace => ({ organization_id, scope: 'webhook', name: 'agent-run' })
export const runTargetPlace = (organization_id: number, url: string): SealPlace => ({ organization_id, scope: 'run webhook', name: url })

/** A target of a run as it is stored, JSON text of a list of them: with its secret sealed for that URL in this organization. */
export type StoredTarget = { url: string; key_id?: string; sealed?: string; events?: string[] }
