import { z } from 'zod'
import { id } from '../decimal.ts'
import { type Endpoint, none, org, v1 } from '../endpoint.ts'
import { AcceptInvitationInput, Member } from '../organizations/members.ts'
import { CliRules, Me, UpdateMeInput, User, UserPage } from '../organizations/users.ts'
import { pageQuery } from '../page.ts'

/** The users of an organization, and the caller (specification.md#access). */
export const userEndpoints = {
  getMe: {
    ...v1,
    tag: 'users',
    method: 'GET',
    path: '/v1/users/me',
    aliases: ['/v1/user', '/v1/alpha/user/me'],
    summary: 'Get the user of this token',
    description: 'Address and role are those in the first organization that the token reaches.',
    scope: 'org:read',
    bucket: 'standard',
    params: none,
    response: Me,
  },
  updateMe: {
    ...v1,
    tag: 'users',
    method: 'PATCH',
    path: '/v1/users/me',
    summary: 'Change your own profile and your instructions for agents',
    description:
      'An absent key is unchanged. The profile applies to all of your organizations, so a token that does not reach all of them gets 403. In an organization that you join later, `custom_prompt` applies once you set it again.',
    scope: 'runs:write',
    bucket: 'standard',
    params: none,
    body: UpdateMeInput,
    response: Me,
  },
  acceptInvitation: {
    ...v1,
    tag: 'users',
    method: 'POST',
    path: '/v1/invitations/accept',
    summary: 'Join an organization with the account of this token',
    description:
      'Your other sessions and tokens from before do not reach the organization, nor do links that they create. Without an account, open the link in a browser. 403 for a token that is bound to an organization or to scopes; 404 for an invitation that is wrong, used, revoked or expired; 409 for a member.',
    scope: null,
    bucket: 'standard',
    params: none,
    body: AcceptInvitationInput,
    problems: ['forbidden', 'not_found', 'conflict'],
    response: Member,
  },
  getCliRules: {
    ...v1,
    tag: 'cli-rules',
    method: 'GET',
    path: '/v1/organizations/{org_id}/cli/rules',
    summary: 'Get the instructions of the organization and of the caller for agents',
    scope: 'org:read',
    bucket: 'standard',
    params: org,
    response: CliRules,
  },
  listUsers: {
    ...v1,
    tag: 'users',
    method: 'GET',
    path: '/v1/organizations/{org_id}/users',
    summary: 'List the users of an organization, oldest first',
    scope: 'org:read',
    bucket: 'standard',
    params: org,
    query: z.object(pageQuery),
    response: UserPage,
  },
  getUser: {
    ...v1,
    tag: 'users',
    method: 'GET',
    path: '/v1/organizations/{org_id}/users/{user_id}',
    summary: 'Get a user of an organization',
    description: 'The role is that in this organization.',
    scope: 'org:read',
    bucket: 'standard',
    params: org.extend({ user_id: id().describe('The user') }),
    response: User,
  },
} as const satisfies Record<string, Endpoint>
