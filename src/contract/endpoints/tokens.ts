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
      'Your own; with the scope `org:admin` all that are bound to this organization. A token that is bound in scopes or repositories is shown those that reach no further than itself; one that is good for all organizations of its user is shown only to another such token that reaches each of these. Revoked and expired ones are listed, those of the web interface are not.',
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
    summary: 'Make a token for this organization',
    reach: 'filtered',
    description:
      'The token itself is in this answer and nowhere else. It never reaches further than the one that makes it: in scopes, repositories and time; nor further than the role of its user. 403 names what yours does not have.',
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
      'One of your own that reaches no further than the token that asks, or with the scope `org:admin` any that is bound to this organization. The next request with it is refused, and its open streams end within seconds. Revoked already: unchanged.',
    scope: 'runs:write',
    bucket: 'standard',
    params: org.extend({ token_id: id().describe('The token') }),
    response: Token,
  },
} as const satisfies Record<string, Endpoint>
