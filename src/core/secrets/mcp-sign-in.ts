import { storedJson } from '../json/stored-json.ts'
import { SHORTEST_SECRET } from './known-value.ts'

/** The client of a sign-in, and the authorization server that knows it. */
export type SignInParty = {
  /** Address of the MCP server, the only one that receives the access token. */
  url: string
  issuer: string
  token_endpoint: string
  /** The resource that tokens are requested for (RFC 8707); null: the server names none. */
  resource: string | null
  client_id: string
  client_secret: string | null
  auth_method: 'client_secret_basic' | 'client_secret_post' | 'none'
}

/** A sign-in that a person has begun. Times are in milliseconds. */
export type PendingSignIn = SignInParty & {
  id: string
  code_verifier: string
  /** Whether the authorization server names itself in its response (RFC 9207). */
  names_issuer: boolean
  expires_at: number
}

/**
 * What a sign-in needs. `client` null: the service registers itself. `issuer` null: the server names its
 * authorization server.
 */
export type SignInRequest = {
  url: string
  client: { client_id: string; client_secret: string | null } | null
  issuer: string | null
  scope: string | null
  redirect_url: string
  state: string
}

/** A sign-in that the authorization server knows, with the page where the person allows the access. */
export type BegunSignIn = { authorization_url: string; pending: Omit<PendingSignIn, 'id' | 'expires_at'> }

/** `expires_at` null: the authorization server does not name a time. */
export type Tokens = { access_token: string; refresh_token: string | null; expires_at: number | null }
export type Grant = SignInParty & Tokens & { signed_in_at: number }

/** The sign-in to an MCP server, sealed as one secret. `problem`: why the last sign-in or renewal failed. */
export type McpSignIn = { pending: PendingSignIn | null; grant: Grant | null; problem: string | null }

export const NOT_SIGNED_IN: McpSignIn = { pending: null, grant: null, problem: null }

/** Returns a sign-in from its secret, or none when a person has set that secret to something else. */
export function readSignIn(text: string): McpSignIn {
  try {
    const { pending = null, grant = null, problem = null } = storedJson<Partial<McpSignIn>>(text)
    return { pending, grant: typeof grant?.access_token === 'string' ? grant : null, problem }
  } catch {
    return NOT_SIGNED_IN
  }
}

/** Returns the values of a sign-in that are secret. */
export function signInValues(text: string): string[] {
  const { pending, grant } = readSignIn(text)
  const values = [
    grant?.access_token,
    grant?.refresh_token,
    grant?.client_secret,
    pending?.client_secret,
    pending?.code_verifier,
  ]
  return values.filter(value => typeof value === 'string' && value.length >= SHORTEST_SECRET) as string[]
}

const isoTime = (ms: number) => new Date(ms).toISOString()

/** Returns the state of a sign-in as people see it. */
export function signInState({ grant, problem }: McpSignIn, now: number) {
  if (grant === null)
    return { status: 'signed_out' as const, issuer: null, signed_in_at: null, expires_at: null, problem }
  const expires_at = grant.refresh_token === null ? grant.expires_at : null
  return {
    status: expires_at !== null && expires_at <= now ? ('expired' as const) : ('signed_in' as const),
    issuer: grant.issuer,
    signed_in_at: isoTime(grant.signed_in_at),
    expires_at: expires_at === null ? null : isoTime(expires_at),
    problem,
  }
}
