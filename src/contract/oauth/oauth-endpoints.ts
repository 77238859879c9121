import { type Endpoint, none, open, org, v1 } from '../endpoint.ts'
import { AuthorizeClientInput, ClientAuthorization, OAuthClient, OAuthClientQuery } from './oauth.ts'

/** What the page of a sign-in by OAuth calls (specification.md#mcp). */
export const oauthEndpoints = {
  getOAuthClient: {
    ...v1,
    tag: 'tokens',
    method: 'GET',
    path: '/v1/oauth/client',
    summary: 'Get a program that requests a sign-in by OAuth',
    description:
      'The program registered itself: its name proves nothing. 400 for an id or an address that is not registered.',
    scope: null,
    bucket: 'standard',
    params: none,
    query: OAuthClientQuery,
    response: OAuthClient,
  },
  authorizeOAuthClient: {
    ...v1,
    tag: 'tokens',
    method: 'POST',
    path: '/v1/organizations/{org_id}/oauth/authorizations',
    summary: 'Allow a program to act for you',
    reach: 'filtered',
    description:
      'Creates a token of yours for 30 days with at most the scopes of the requesting token. The program fetches it with the code; a token that it does not fetch is revoked.',
    scope: 'runs:write',
    bucket: 'standard',
    params: org,
    body: AuthorizeClientInput,
    response: ClientAuthorization,
  },
} as const satisfies Record<string, Endpoint>

export const AUTHORIZE_PATH = '/oauth/authorize'

/**
 * What clients call by the standards of OAuth, with the responses that those demand. Not part of the API
 * document.
 */
export const oauthOperations = {
  getOAuthMetadata: {
    ...open,
    method: 'GET',
    path: '/.well-known/oauth-authorization-server',
    summary: 'How clients sign in (RFC 8414)',
    response: 'file',
  },
  registerOAuthClient: {
    ...open,
    method: 'POST',
    path: '/oauth/register',
    summary: 'Register a client (RFC 7591)',
    response: 'file',
  },
  exchangeOAuthCode: {
    ...open,
    method: 'POST',
    path: '/oauth/token',
    summary: 'Exchange a code for a token (RFC 6749)',
    response: 'file',
  },
} as const satisfies Record<string, Endpoint>
