import { createHash } from 'node:crypto'

const PREFIX = 'AGENTRUN_MODEL_KEY_'

/**
 * Returns the name of the organization's secret that holds the key of a provider (`anthropic`) or of a model
 * (`acme/fast`), so that keys are sealed, rotated and redacted like all secrets. Different ids have different
 * names.
 */
export function modelKeyName(id: string): string {
  const words = id.toUpperCase().replace(/[^A-Z0-9]+/g, '_')
  return `${PREFIX}${words.slice(0, 60)}${id.includes('/') ? `_${createHash('sha256').update(id).digest('hex').slice(0, 8).toUpperCase()}` : ''}`
}

/** Returns whether a secret is the key of a model, which no sandbox gets, not even for setup commands. */
export const isModelKey = (name: string): boolean => name.startsWith(PREFIX)
