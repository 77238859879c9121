import { type Scope, scopes } from '../../contract/endpoint.ts'

export type Role = 'ADMIN' | 'MANAGER' | 'MEMBER' | 'READER'

const reading: Scope[] = ['runs:read', 'logs:read', 'repos:read', 'org:read']

/** What a role allows in its organization (specification.md#access). */
export const roleScopes: Record<Role, readonly Scope[]> = {
  ADMIN: scopes,
  MANAGER: [...reading, 'runs:write', 'repos:admin'],
  MEMBER: [...reading, 'runs:write'],
  READER: reading,
}

/** What a token may do there: its own scopes, as far as the role of its user has them. `granted` null: whatever the role allows. */
export function effectiveScopes(role: Role, granted: readonly string[] | null): Scope[] {
  return roleScopes[role].filter(scope => granted === null || granted.includes(scope))
}
