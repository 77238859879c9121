import { type Scope, scopes } from '../../contract/endpoint.ts'
import { MCP_PATH } from '../../contract/mcp/mcp-operations.ts'
import {
  type AuthorizeClientInput,
  type ExchangeInput,
  type OAuthClient,
  type OAuthClientQuery,
  oauth_limits,
  type RegisterClientInput,
} from '../../contract/oauth/oauth.ts'
import {
  clientId,
  clientOf,
  isRegistered,
  redirectRefusal,
  verifies,
} from '../../core/access/oauth-client.ts'
import { digest, newSignInCode, newToken, tokenPrefix } from '../../core/access/token.ts'
import { invalid } from '../../core/service-error.ts'
import {
  type ClaimedToken,
  claimToken,
  deleteUsedCodes,
  insertAuthorizationCode,
  lockAuthorizationCode,
  markCodeUsed,
  revokeClaim,
  revokeUnclaimedTokens,
} from '../../store/access/authorization-codes.ts'
import type { Context, Services } from '../context.ts'
import { createToken } from './tokens.ts'

const CODE_SECONDS = 60
const TOKEN_DAYS = 30

type Deps = Pick<Services, 'sealer' | 'base_url' | 'oauth_redirect_hosts'>

/**
 * Returns the registration of a client with its id, and of its addresses those that are accepted: editors
 * also name one on the web, for when they run there (RFC 7591, 3.2.1). Throws 400 with the reason when none
 * is.
 */
export function registerClient(services: Deps, input: RegisterClientInput) {
  const refusalOf = (uri: string) => redirectRefusal(uri, services.oauth_redirect_hosts)
  const redirect_uris = input.redirect_uris.filter(uri => refusalOf(uri) === null)
  const refusal = redirect_uris.length === 0 ? refusalOf(input.redirect_uris[0] ?? '') : null
  if (refusal !== null) throw invalid(['body', 'redirect_uris', 0], refusal)
  const name = [...(input.client_name?.trim() || 'An application')].slice(0, oauth_limits.name_chars).join('')
  const client_id = clientId(services.sealer, { name, redirect_uris })
  if (client_id.length > oauth_limits.client_id_chars)
    throw invalid(['body', 'redirect_uris'], 'are too long together')
  return { client_id, name, redirect_uris }
}

/**
 * Returns what a person is shown of a client. Throws 400 for an unknown client or an address that is not
 * accepted.
 */
export function getOAuthClient(services: Deps, { client_id, redirect_uri }: OAuthClientQuery): OAuthClient {
  const { name } = requireClient(services, { client_id, redirect_uri }, 'query')
  const { protocol, host } = new URL(redirect_uri)
  return {
    name,
    redirect_uri,
    host: protocol === 'https:' ? host : protocol === 'http:' ? null : protocol.slice(0, -1),
  }
}

/**
 * Allows a client to act for the caller, with a token of 30 days in this organization (specification.md#mcp).
 * Returns the address that gives the client its code. Throws as `createToken`, and 400 for what the client
 * requested wrongly.
 */
export async function authorizeClient(
  ctx: Context,
  input: AuthorizeClientInput,
): Promise<{ redirect_to: string }> {
  const { name } = requireClient(ctx, input, 'body')
  if (input.resource != null && !isResource(ctx, input.resource))
    throw invalid(['body', 'resource'], `must be ${ctx.base_url}${MCP_PATH}`)
  await revokeUnclaimedTokens(ctx.db)
  await deleteUsedCodes(ctx.db)
  const code = newSignInCode()
  // The secret that this creates is used by nobody: the client gets another one for its code.
  const token = { name: `${name} (OAuth)`, scopes: input.scopes, expires_in_seconds: TOKEN_DAYS * 86_400 }
  const { id } = await createToken(ctx, token, { name, redirect_uri: input.redirect_uri })
  const row = {
    digest: digest(code),
    organization_id: ctx.organization_id,
    token_id: id,
    client_digest: digest(input.client_id),
  }
  await insertAuthorizationCode(
    ctx.db,
    { ...row, redirect_uri: input.redirect_uri, challenge: input.code_challenge },
    CODE_SECONDS,
  )
  const to = new URL(input.redirect_uri)
  to.searchParams.set('code', code)
  if (input.state != null) to.searchParams.set('state', input.state)
  to.searchParams.set('iss', ctx.base_url)
  return { redirect_to: to.href }
}

type ExchangedToken = { token: string; scopes: readonly Scope[]; expires_in: number }

/**
 * Exchanges a code for its token. Null: the code is unknown, used, too old, of another client, address or
 * resource, or the secret of the sign-in is wrong. A code is used up by the first attempt; one that fails,
 * and every further one, revokes its token (RFC 6749, 4.1.2).
 */
export async function exchangeCode(
  { db, base_url }: Services,
  input: ExchangeInput,
): Promise<ExchangedToken | null> {
  const is_ours = input.resource === undefined || isResource({ base_url }, input.resource)
  return db.transaction(async tx => {
    const code = await lockAuthorizationCode(tx, digest(input.code))
    if (!code) return null
    await markCodeUsed(tx, code)
    const same_client =
      code.client_digest.equals(digest(input.client_id)) && code.redirect_uri === input.redirect_uri
    const is_usable = !code.used && !code.expired && is_ours && same_client
    if (!is_usable || !verifies(input.code_verifier, code.challenge)) {
      await revokeClaim(tx, code.organization_id, code.token_id)
      return null
    }
    const token = newToken('p')
    const secret = { digest: digest(token), prefix: tokenPrefix(token), hint: token.slice(-4) }
    const claimed = await claimToken(tx, code.organization_id, code.token_id, secret)
    return claimed ? { token, ...shown(claimed) } : null
  })
}

const shown = ({ scopes: given, expires_at }: ClaimedToken) => ({
  scopes: scopes.filter(scope => given === null || given.includes(scope)),
  expires_in: Math.max(0, Math.floor(((expires_at?.getTime() ?? 0) - Date.now()) / 1000)),
})

function requireClient(
  services: Deps,
  { client_id, redirect_uri }: OAuthClientQuery,
  source: 'query' | 'body',
) {
  const client = clientOf(services.sealer, client_id)
  if (client === null)
    throw invalid([source, 'client_id'], 'is not registered here: the program has to register again')
  if (!isRegistered(client, redirect_uri))
    throw invalid([source, 'redirect_uri'], 'is not one that the program registered')
  // The operator may have changed what is accepted.
  const refusal = redirectRefusal(redirect_uri, services.oauth_redirect_hosts)
  if (refusal !== null) throw invalid([source, 'redirect_uri'], refusal)
  return client
}

const isResource = ({ base_url }: { base_url: string }, resource: string) =>
  [base_url, `${base_url}/`, base_url + MCP_PATH, `${base_url}${MCP_PATH}/`].includes(resource)
