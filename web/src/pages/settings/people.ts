import { queryOptions, useQuery } from '@tanstack/react-query'
import type { Result } from '../../../../src/contract/calls.ts'
import { allItems } from '../../api/all-items.ts'
import { call } from '../../api/client.ts'
import { visible } from '../../text/visible.ts'

export type Member = Result<'listMembers'>['items'][number]
export type Role = Member['role']

const PAGE_SIZE = 100

/** All members of the organization, people and service users. */
export const membersQuery = queryOptions({
  queryKey: ['members'],
  queryFn: ({ signal }) =>
    allItems(skip => call('listMembers', { query: { limit: PAGE_SIZE, skip }, signal })),
})

export const invitationsQuery = queryOptions({
  queryKey: ['invitations'],
  queryFn: ({ signal }) =>
    allItems(skip => call('listInvitations', { query: { limit: PAGE_SIZE, skip }, signal })),
})

export const serviceUsersQuery = queryOptions({
  queryKey: ['service-users'],
  queryFn: ({ signal }) =>
    allItems(skip => call('listServiceUsers', { query: { limit: PAGE_SIZE, skip }, signal })),
})

export const memberName = ({ full_name, email, user_id }: Pick<Member, 'full_name' | 'email' | 'user_id'>) =>
  visible(full_name ?? email ?? `User ${user_id}`)

/** Returns the function that names a user by id, including former members. */
export function usePersonNames(): (user_id: number) => string {
  const members = useQuery(membersQuery).data
  return user_id => {
    const member = members?.find(one => one.user_id === user_id)
    return member ? memberName(member) : `User ${user_id}`
  }
}
