import { outgoingFetch } from '../egress/fetch.ts'
import type { SignInAccess } from '../mcp/sign-in/sign-in-fetch.ts'
import type { Services } from '../service/context.ts'
import type { WorkerServices } from '../worker/services.ts'
import type { Parts } from './parts.ts'
import { outgoingOf } from './webhooks.ts'

/** Of one request. Metadata and tokens are a few kilobytes. */
const BOUNDS = { ms: 10_000, max_bytes: 256 * 1024 }

const accessOf = (parts: Parts): ((organization_id: number) => SignInAccess) => {
  const outgoing = outgoingOf(parts)
  const allow_private = parts.config.AGENTRUN_ALLOW_PRIVATE_EGRESS
  return organization_id => ({ fetch: outgoingFetch(outgoing(organization_id), BOUNDS), allow_private })
}

/**
 * Signs in to MCP servers. The client is loaded with the first sign-in: most processes need none of its
 * megabytes.
 */
export function createMcpSignIn(parts: Parts): Services['mcp_sign_in'] {
  const access = accessOf(parts)
  return {
    begin: async (organization_id, request) =>
      (await import('../mcp/sign-in/begin.ts')).beginSignIn(access(organization_id), request),
    exchange: async (organization_id, pending, response) =>
      (await import('../mcp/sign-in/tokens.ts')).exchangeCode(access(organization_id), pending, response),
  }
}

export function createSignInRenewal(parts: Parts): Pick<WorkerServices, 'renewSignIn'>['renewSignIn'] {
  const access = accessOf(parts)
  return async (organization_id, grant, refresh_token) =>
    (await import('../mcp/sign-in/tokens.ts')).renewTokens(access(organization_id), grant, refresh_token)
}
