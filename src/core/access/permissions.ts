import { type Scope, scopes } from '../../contract/endpoint.ts'

export type Role = 'ADMIN' | 'MANAGER' | 'MEMBER' | 'READER'

const reading: Scope[] = ['runs:read', 'logs:read', 'repos:read', 'org:read']

/** The scopes of each role in its organization (specification.md#access). */
export const roleScopes: Record<Role, readonly Scope[]> = {
  ADMIN: scopes,
  MANAGER: [...reading, 'runs:write', 'repos:admin'],
  MEMBER: [...reading, 'runs:write'],
  READER: reading,
}

/**
 * Returns the scopes of a token in an organization: its own, limited by the role of its user. `granted` null:
 * everything that the role allows.
 */
export function effectiveScopes(role: Role, granted: readonly string[] | null): Scope[] {
  return roleScopes[role].filter(scope => granted === null || granted.includes(scope))
}
