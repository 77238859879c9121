import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk'

/** `wait`: nobody has decided yet, and the prompt ends. */
export type PermissionDecision = 'allow' | 'deny' | 'wait'

/** The options of a decision, the narrowest first: a permission holds for one call. */
const kinds: Record<PermissionDecision, readonly string[]> = {
  allow: ['allow_once', 'allow_always'],
  deny: ['reject_once', 'reject_always'],
  wait: [],
}

/** Returns the response to a request for a permission. An agent that offers no such option gets no permission. */
export function permissionResponse({ options }: RequestPermissionRequest, decision: PermissionDecision): RequestPermissionResponse {
  const chosen = kinds[decision].map(wanted => options.find(({ kind }) => kind === wanted)).find(option => option !== undefined)
  return { outcome: chosen === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: chosen.optionId } }
}
