import type { Core } from '../../../src/client/sdk/request.ts'
import { createPageCore } from './page-core.ts'
import { createSession } from './session.ts'

const request: typeof fetch = (input, init) => fetch(input, init)

export const session = createSession(createPageCore(request))

/**
 * Calls the service as the signed-in user. `org_id` comes from the session; an expired token is renewed and
 * the call repeated once.
 */
export const core: Core = createPageCore(request, {
  credentials: {
    token: async () => (await session.current()).token,
    discard: token => session.forget(token),
  },
  organization: async () => (await session.current()).organization_id,
})

export const { call } = core
