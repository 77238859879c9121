import {
  type AuthorizationServerMetadata,
  checkResourceAllowed,
  discoverOAuthServerInfo,
  extractWWWAuthenticateParams,
  type FetchLike,
  type OAuthClientInformationMixed,
  type OAuthServerInfo,
  registerClient,
  selectClientAuthMethod,
  startAuthorization,
} from '@modelcontextprotocol/client'
import { deadline } from '../../core/deadline.ts'
import type { BegunSignIn, SignInRequest } from '../../core/secrets/mcp-sign-in.ts'
import { problemText } from './problem-text.ts'
import { insecure, type SignInAccess, signInFetch } from './sign-in-fetch.ts'

const TIMEOUT_MS = 30_000
const MAX_ADDRESS = 2_000
const MAX_CLIENT_VALUE = 4_000

/**
 * Discovers the authorization server of an MCP server (RFC 9728, RFC 8414), registers a client there unless
 * one is given (RFC 7591), and returns the address at which a person signs in, with PKCE. Everything is the
 * data of strangers. Never rejects: a failure is data.
 */
export async function beginSignIn(
  access: SignInAccess,
  request: SignInRequest,
): Promise<BegunSignIn | { problem: string }> {
  using limit = deadline(TIMEOUT_MS)
  try {
    return await begin(access, request, signInFetch(access, limit.signal))
  } catch (error) {
    return {
      problem: limit.passed
        ? `there was no response within ${TIMEOUT_MS / 1_000} seconds`
        : problemText(error),
    }
  }
}

async function begin(
  { allow_private }: SignInAccess,
  request: SignInRequest,
  fetchFn: FetchLike,
): Promise<BegunSignIn> {
  const challenge = await challengeOf(request.url, fetchFn)
  const { resourceMetadataUrl } = challenge
  const found = await discoverOAuthServerInfo(request.url, {
    fetchFn,
    ...(resourceMetadataUrl && { resourceMetadataUrl }),
  })
  const metadata = requireMetadata(found, request, allow_private)
  const resource = resourceOf(found, request.url)
  const scope = request.scope ?? challenge.scope ?? found.resourceMetadata?.scopes_supported?.join(' ')
  const client = await clientOf(request, { metadata, scope, fetchFn })
  const methods = metadata.token_endpoint_auth_methods_supported ?? []
  const { authorizationUrl, codeVerifier } = await startAuthorization(found.authorizationServerUrl, {
    metadata,
    clientInformation: client,
    redirectUrl: request.redirect_url,
    state: request.state,
    ...(scope !== undefined && { scope }),
    ...(resource !== null && { resource }),
  })
  return {
    authorization_url: authorizationUrl.href,
    pending: {
      url: request.url,
      issuer: metadata.issuer,
      token_endpoint: metadata.token_endpoint,
      resource,
      client_id: client.client_id,
      client_secret: client.client_secret ?? null,
      auth_method: selectClientAuthMethod(client, methods),
      code_verifier: codeVerifier,
      names_issuer: Object(metadata).authorization_response_iss_parameter_supported === true,
    },
  }
}

/** What the server responds to a request without a token: a server that needs none has no challenge. */
async function challengeOf(url: string, fetchFn: FetchLike) {
  const response = await fetchFn(url, {
    method: 'POST',
    headers: { 'content-type': 'application/json', accept: 'application/json, text/event-stream' },
    body: JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'ping' }),
  })
  return response.status === 401 ? extractWWWAuthenticateParams(response) : {}
}

/**
 * Throws unless the metadata are those of the expected server, their addresses are secure, and it protects
 * codes by PKCE.
 */
function requireMetadata(
  { authorizationServerMetadata: metadata }: OAuthServerInfo,
  { issuer }: SignInRequest,
  allow_private: boolean,
): AuthorizationServerMetadata {
  if (metadata === undefined)
    throw new Error('it has no authorization server with metadata (RFC 8414), so nobody can sign in')
  if (issuer !== null && withoutSlash(metadata.issuer) !== withoutSlash(issuer))
    throw new Error(
      `its authorization server is ${metadata.issuer}, not the issuer ${issuer} of the settings`,
    )
  for (const field of ['authorization_endpoint', 'token_endpoint', 'registration_endpoint'] as const) {
    const address = metadata[field]
    if (address === undefined) continue
    if (address.length > MAX_ADDRESS)
      throw new Error(`${field} of its authorization server is longer than ${MAX_ADDRESS} characters`)
    const refusal = insecure(address, allow_private)
    if (refusal !== null) throw new Error(`${field} of its authorization server ${refusal}`)
  }
  if (!metadata.code_challenge_methods_supported?.includes('S256'))
    throw new Error(
      'code_challenge_methods_supported of its authorization server lacks S256: sign-ins would not be protected',
    )
  return metadata
}

const withoutSlash = (address: string) => address.replace(/\/$/, '')

function resourceOf({ resourceMetadata }: OAuthServerInfo, url: string): string | null {
  if (resourceMetadata === undefined) return null
  const { resource } = resourceMetadata
  if (
    resource.length > MAX_ADDRESS ||
    !checkResourceAllowed({ requestedResource: url, configuredResource: resource })
  )
    throw new Error(`resource in its metadata is ${resource.slice(0, MAX_ADDRESS)}, another server`)
  return resource
}

type Registration = { metadata: AuthorizationServerMetadata; scope: string | undefined; fetchFn: FetchLike }

async function clientOf({ client, redirect_url }: SignInRequest, { metadata, scope, fetchFn }: Registration) {
  if (client !== null) {
    const { client_id, client_secret } = client
    return {
      client_id,
      ...(client_secret !== null && { client_secret }),
    } satisfies OAuthClientInformationMixed
  }
  if (metadata.registration_endpoint === undefined)
    throw new Error(
      'its authorization server registers no clients: register one there, and set sign_in.client_id and sign_in.issuer',
    )
  const registered = await registerClient(metadata.issuer, {
    metadata,
    clientMetadata: {
      client_name: 'Agent Run Service',
      redirect_uris: [redirect_url],
      grant_types: ['authorization_code', 'refresh_token'],
      response_types: ['code'],
      token_endpoint_auth_method: registeredMethod(metadata),
    },
    ...(scope !== undefined && { scope }),
    fetchFn,
  })
  for (const value of [registered.client_id, registered.client_secret ?? ''])
    if (value.length > MAX_CLIENT_VALUE)
      throw new Error(`the registered client has a value of more than ${MAX_CLIENT_VALUE} characters`)
  return registered
}

/** A client without a secret is enough, where servers accept one. */
function registeredMethod({
  token_endpoint_auth_methods_supported: methods,
}: AuthorizationServerMetadata): string {
  if (methods?.includes('none')) return 'none'
  return methods === undefined || methods.includes('client_secret_basic')
    ? 'client_secret_basic'
    : 'client_secret_post'
}
