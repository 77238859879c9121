import {
  exchangeAuthorization,
  type FetchLike,
  OAuthError,
  refreshAuthorization,
} from '@modelcontextprotocol/client'
import { deadline } from '../../core/deadline.ts'
import type { Grant, PendingSignIn, SignInParty, Tokens } from '../../core/secrets/mcp-sign-in.ts'
import { problemText } from './problem-text.ts'
import { type SignInAccess, signInFetch } from './sign-in-fetch.ts'

const TIMEOUT_MS = 10_000
/**
 * As RFC 6750 has a token, so that it is one line of a header; longer than what redaction would find
 * everywhere.
 */
const TOKEN = /^[\x21-\x7e]{8,8000}$/
/** A year: a server that names more names nothing. */
const MAX_SECONDS = 31_536_000

/** `ended`: the authorization server no longer accepts the sign-in. */
export type TokenProblem = { problem: string; ended: boolean }
type TokenResponse = {
  access_token: string
  refresh_token?: string | undefined
  expires_in?: number | undefined
  token_type: string
}

/** Exchanges the code of a sign-in. Never rejects: a failure is data. */
export function exchangeCode(
  access: SignInAccess,
  pending: PendingSignIn,
  { code, iss, redirect_url }: { code: string; iss: string | undefined; redirect_url: string },
): Promise<Tokens | TokenProblem> {
  return issued(access, fetchFn =>
    exchangeAuthorization(pending.issuer, {
      ...partyOf(pending, pending.names_issuer),
      authorizationCode: code,
      ...(iss !== undefined && { iss }),
      codeVerifier: pending.code_verifier,
      redirectUri: redirect_url,
      fetchFn,
    }),
  )
}

/**
 * Renews the tokens of a sign-in; its refresh token may be used up by that. Never rejects: a failure is data.
 */
export async function renewTokens(
  access: SignInAccess,
  grant: Grant,
  refresh_token: string,
): Promise<Tokens | TokenProblem> {
  return issued(access, fetchFn =>
    refreshAuthorization(grant.issuer, { ...partyOf(grant, false), refreshToken: refresh_token, fetchFn }),
  )
}

/** The metadata that a token request needs, as they were when the person signed in. */
function partyOf(
  { issuer, token_endpoint, resource, client_id, client_secret, auth_method }: SignInParty,
  names_issuer: boolean,
) {
  return {
    metadata: {
      issuer,
      token_endpoint,
      authorization_endpoint: token_endpoint,
      response_types_supported: ['code'],
      token_endpoint_auth_methods_supported: [auth_method],
      authorization_response_iss_parameter_supported: names_issuer,
    },
    clientInformation: { client_id, ...(client_secret !== null && { client_secret }) },
    ...(resource !== null && { resource }),
  }
}

async function issued(
  access: SignInAccess,
  request: (fetchFn: FetchLike) => Promise<TokenResponse>,
): Promise<Tokens | TokenProblem> {
  using limit = deadline(TIMEOUT_MS)
  try {
    return tokensOf(await request(signInFetch(access, limit.signal)))
  } catch (error) {
    if (limit.passed)
      return { problem: `there was no response within ${TIMEOUT_MS / 1_000} seconds`, ended: false }
    const code = error instanceof OAuthError ? error.code : ''
    const ended = ['invalid_grant', 'invalid_client', 'unauthorized_client'].includes(code)
    const problem = problemText(error)
    return { problem: ended && !problem.includes(code) ? `${code}: ${problem}` : problem, ended }
  }
}

function tokensOf({
  access_token,
  refresh_token: issued_refresh,
  expires_in,
  token_type,
}: TokenResponse): Tokens {
  const refresh_token = issued_refresh ?? null
  if (!/^bearer$/i.test(token_type)) throw new Error('token_type in the response is not Bearer')
  if (!TOKEN.test(access_token))
    throw new Error('access_token in the response is not 8 to 8000 printable characters without blanks')
  if (refresh_token !== null && !TOKEN.test(refresh_token))
    throw new Error('refresh_token in the response is not 8 to 8000 printable characters without blanks')
  const known = expires_in !== undefined && Number.isFinite(expires_in) && expires_in <= MAX_SECONDS
  return {
    access_token,
    refresh_token,
    expires_at: known ? Date.now() + Math.max(0, expires_in) * 1_000 : null,
  }
}
