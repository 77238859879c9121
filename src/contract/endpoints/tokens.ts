import { z } from 'zod'
import { id } from '../decimal.ts'
import { type Endpoint, org, v1 } from '../endpoint.ts'
import { CreatedToken, CreateTokenInput, Token, TokenPage } from '../organizations/tokens.ts'
import { pageQuery } from '../page.ts'

/** Bearer tokens of an organization (specification.md#access). */
export const tokenEndpoints = {
  listTokens: {
    ...v1,
    tag: 'tokens',
    method: 'GET',
    path: '/v1/organizations/{org_id}/tokens',
    summary: 'List tokens, newest first',
    description:
      'Your own; with the scope `org:admin` all that are limited to this organization. A token that is limited in scopes or repositories sees those that reach no further than itself; a token for all organizations of its user is visible only to another such token that reaches each of them. Revoked and expired tokens are listed, those of the web interface are not.',
    scope: 'org:read',
    bucket: 'standard',
    params: org,
    query: z.object(pageQuery),
    response: TokenPage,
  },
  createToken: {
    ...v1,
    tag: 'tokens',
    method: 'POST',
    path: '/v1/organizations/{org_id}/tokens',
    summary: 'Create a token for this organization',
    reach: 'filtered',
    description:
      'The token itself is in this response and nowhere else. It never exceeds the token that creates it in scopes, repositories and time, nor the role of its user. 403 names what your token lacks.',
    scope: 'runs:write',
    bucket: 'standard',
    params: org,
    body: CreateTokenInput,
    problems: ['not_found'],
    response: CreatedToken,
  },
  revokeToken: {
    ...v1,
    tag: 'tokens',
    method: 'DELETE',
    path: '/v1/organizations/{org_id}/tokens/{token_id}',
    summary: 'Revoke a token',
    reach: 'free',
    description:
      'Your own token that reaches no further than the requesting one, or with the scope `org:admin` any that is limited to this organization. The next request with it is refused, and its open streams end within seconds. An already revoked token is unchanged.',
    scope: 'runs:write',
    bucket: 'standard',
    params: org.extend({ token_id: id().describe('The token') }),
    response: Token,
  },
} as const satisfies Record<string, Endpoint>
