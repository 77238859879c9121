import { z } from 'zod'
import { id } from '../decimal.ts'
import { type Endpoint, org, v1 } from '../endpoint.ts'
import {
  AddedMember,
  AddMemberInput,
  CreateServiceUserInput,
  Member,
  MemberPage,
  ServiceUser,
  ServiceUserPage,
  SignInLink,
  UpdateMemberInput,
} from '../members.ts'
import { pageQuery } from '../page.ts'

const member = org.extend({ user_id: id().describe('The user') })
const service_user = org.extend({ service_user_id: id().describe('The service user') })

/** Who belongs to an organization, people and service users, and in which role (decisions §9). */
export const memberEndpoints = {
  listMembers: {
    ...v1,
    tag: 'members',
    method: 'GET',
    path: '/v1/organizations/{org_id}/members',
    summary: 'List the members of an organization, oldest first',
    scope: 'org:read',
    bucket: 'standard',
    params: org,
    query: z.object(pageQuery),
    response: MemberPage,
  },
  addMember: {
    ...v1,
    tag: 'members',
    method: 'POST',
    path: '/v1/organizations/{org_id}/members',
    summary: 'Add a person to an organization',
    description:
      'Nothing is sent: pass the `sign_in_link` on yourself. It is there for a person who has never signed in and whom you may sign in. 403 for a role that allows more than your token does; 409 for who is a member already.',
    scope: 'org:admin',
    bucket: 'standard',
    params: org,
    body: AddMemberInput,
    problems: ['conflict'],
    response: AddedMember,
  },
  updateMember: {
    ...v1,
    tag: 'members',
    method: 'PATCH',
    path: '/v1/organizations/{org_id}/members/{user_id}',
    summary: 'Change the role of a member',
    description:
      'In effect from the next request on. 403 for a role that allows more than your token does; 409 for the last person who is ADMIN.',
    scope: 'org:admin',
    bucket: 'standard',
    params: member,
    body: UpdateMemberInput,
    problems: ['conflict'],
    response: Member,
  },
  removeMember: {
    ...v1,
    tag: 'members',
    method: 'DELETE',
    path: '/v1/organizations/{org_id}/members/{user_id}',
    summary: 'Remove a member from an organization',
    description:
      'Ends access with the next request and revokes the tokens of the member that are bound to this organization. Runs stay. Answers the member as it was; 409 for the last person who is ADMIN.',
    scope: 'org:admin',
    bucket: 'standard',
    params: member,
    problems: ['conflict'],
    response: Member,
  },
  createSignInLink: {
    ...v1,
    tag: 'members',
    method: 'POST',
    path: '/v1/organizations/{org_id}/members/{user_id}/sign-in-link',
    summary: 'A link that signs a member in once, within 24 hours',
    description:
      'Links that were given before and not used are void. 403 for a member whose role allows more than your token does, or when your token expires; 409 for a service user, and for who also belongs to an organization that you do not administer.',
    scope: 'org:admin',
    bucket: 'standard',
    params: member,
    problems: ['conflict'],
    response: SignInLink,
  },
  listServiceUsers: {
    ...v1,
    tag: 'members',
    method: 'GET',
    path: '/v1/organizations/{org_id}/service-users',
    summary: 'List the service users of an organization, oldest first',
    scope: 'org:read',
    bucket: 'standard',
    params: org,
    query: z.object(pageQuery),
    response: ServiceUserPage,
  },
  createServiceUser: {
    ...v1,
    tag: 'members',
    method: 'POST',
    path: '/v1/organizations/{org_id}/service-users',
    summary: 'Make a service user',
    description:
      'A member of this one organization that never signs in. Make tokens for it with its id as `user_id`. 403 for a role that allows more than your token does.',
    scope: 'org:admin',
    bucket: 'standard',
    params: org,
    body: CreateServiceUserInput,
    response: ServiceUser,
  },
  deleteServiceUser: {
    ...v1,
    tag: 'members',
    method: 'DELETE',
    path: '/v1/organizations/{org_id}/service-users/{service_user_id}',
    summary: 'Remove a service user',
    description: 'Revokes its tokens. Its runs stay and still name it. Answers the service user as it was.',
    scope: 'org:admin',
    bucket: 'standard',
    params: service_user,
    response: ServiceUser,
  },
} as const satisfies Record<string, Endpoint>
