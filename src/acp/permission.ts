import type { RequestPermissionRequest, RequestPermissionResponse } from '@agentclientprotocol/sdk'

/**
 * Permits what an agent requests, once: the sandbox is the boundary, and the built-in agent needs no permission for what is inside either. An agent
 * that offers no such option gets no permission.
 */
export function choosePermission({ options }: RequestPermissionRequest): RequestPermissionResponse {
  const option = options.find(({ kind }) => kind === 'allow_once') ?? options.find(({ kind }) => kind === 'allow_always')
  return { outcome: option === undefined ? { outcome: 'cancelled' } : { outcome: 'selected', optionId: option.optionId } }
}
