import { infiniteQueryOptions } from '@tanstack/react-query'
import type { Result } from '../../../../../src/contract/calls.ts'
import { nextSkip } from '../../../api/all-items.ts'
import { call } from '../../../api/client.ts'

export type Token = Result<'listTokens'>['items'][number]
export type Scope = NonNullable<Token['scopes']>[number]

const PAGE_SIZE = 50

export const tokensQuery = infiniteQueryOptions({
  queryKey: ['tokens'],
  queryFn: ({ pageParam, signal }) =>
    call('listTokens', { query: { skip: pageParam, limit: PAGE_SIZE }, signal }),
  initialPageParam: 0,
  getNextPageParam: nextSkip,
})

/** What each scope permits. */
export const scope_texts: Record<Scope, string> = {
  'runs:read': 'View runs, pull requests and sandboxes',
  'runs:write': 'Start and steer runs, change pull requests, create tokens',
  'logs:read': 'Read traces',
  'repos:read': 'View repositories',
  'repos:admin': 'Add and change repositories',
  'org:read': 'View the organization',
  'org:admin': 'Change the organization: members, keys, budgets',
}

/** Whether a token is accepted, in one word. */
export function tokenState(
  { revoked_at, expires_at }: Pick<Token, 'revoked_at' | 'expires_at'>,
  now: number,
): 'active' | 'revoked' | 'expired' {
  if (revoked_at !== null) return 'revoked'
  return expires_at !== null && Date.parse(expires_at) <= now ? 'expired' : 'active'
}
