import { useQuery } from '@tanstack/react-query'
import { meQuery } from '../api/queries.ts'

/** Why this user may not change a repository, or null. */
export function useRepositoryReason(): string | null {
  const me = useQuery(meQuery).data
  return me?.role === 'READER' || me?.role === 'MEMBER'
    ? `Your role, ${me.role}, may not change repositories`
    : null
}

/**
 * Why this user may not change what only an ADMIN changes, or null. `what` in the plural: connections,
 * members.
 */
export function useAdminReason(what: string): string | null {
  const me = useQuery(meQuery).data
  return me === undefined || me.role === 'ADMIN'
    ? null
    : `Your role, ${me.role}, can view ${what} but not change them`
}

/** Why this user may not change their profile, or null. */
export function useProfileReason(): string | null {
  const me = useQuery(meQuery).data
  return me?.role === 'READER' ? 'Your role, READER, may not change your profile' : null
}

/**
 * Why this user may not change anything, or null. The service decides; the page only explains it beforehand.
 */
export function useReadOnlyReason(): string | null {
  const me = useQuery(meQuery).data
  return me?.role === 'READER' ? 'Your role, READER, can view runs but not change them' : null
}
