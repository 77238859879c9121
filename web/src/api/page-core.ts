import { AgentRunError } from '../../../src/client/sdk/error.ts'
import { type Core, type CoreOptions, createCore } from '../../../src/client/sdk/request.ts'

type Identity = Pick<CoreOptions, 'credentials' | 'organization'>

/** Without a session: only operations that need no token. */
const anonymous: Identity = {
  credentials: { token: async () => undefined },
  organization: () => Promise.reject(new TypeError('A call without a session has no organization')),
}

/**
 * The SDK's client for a page of this service. Retries are left to TanStack Query, which knows whether the
 * page is visible and online.
 */
export function createPageCore(request: typeof fetch, identity: Identity = anonymous): Core {
  return createCore({
    base_url: '',
    ...identity,
    transport: {
      fetch: (url, init) =>
        request(url, init).catch(cause => Promise.reject(init?.signal?.aborted ? cause : unreachable(cause))),
      retries: 0,
      timeout_ms: 60_000,
      longest_wait_ms: 0,
      on_wait: undefined,
    },
  })
}

const unreachable = (cause: unknown) =>
  new AgentRunError({
    status: 0,
    code: 'unreachable',
    cause,
    detail: 'The service does not respond. It may be stopped or restarting.',
  })
