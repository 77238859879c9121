import { z } from 'zod'
import { id } from '../decimal.ts'
import { type Endpoint, none, org, v1 } from '../endpoint.ts'
import { pageQuery } from '../page.ts'
import { CliRules, Me, UpdateMeInput, User, UserPage } from '../users.ts'

/** Who is in an organization, and who the caller is (spec §Organization data, decisions §9). */
export const userEndpoints = {
  getMe: {
    ...v1,
    tag: 'users',
    method: 'GET',
    path: '/v1/users/me',
    aliases: ['/v1/user', '/v1/alpha/user/me'],
    summary: 'The user of this token',
    description: 'The role is that in the first organization of the user.',
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
    summary: 'Change what you say of yourself, and to the agents of your runs',
    description: 'A key that is absent stays as it is. Not for tokens that are bound to one organization: it holds in all of yours.',
    scope: 'runs:write',
    bucket: 'standard',
    params: none,
    body: UpdateMeInput,
    response: Me,
  },
  getCliRules: {
    ...v1,
    tag: 'cli-rules',
    method: 'GET',
    path: '/v1/organizations/{org_id}/cli/rules',
    summary: 'What the organization and the caller say to agents',
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
