import type { Scope } from '../../contract/endpoint.ts'
import { type Role, roleScopes } from './permissions.ts'

/**
 * The limits of the requesting token. `scopes` is what it may do here; `granted` is null when only its user's
 * role limits it.
 */
type Giver = {
  granted: readonly string[] | null
  scopes: readonly Scope[]
  repository_ids: readonly number[] | null
}

/**
 * `given` null: everything that the role allows. `lacking`: the missing scope, and whether the token or the
 * role lacks it.
 */
type Delegation = { given: Scope[] | null } | { lacking: Scope; whose: 'token' | 'role' }

/**
 * Returns the scopes of a new token for a user with that role: the wanted ones, or all that may be granted.
 * Neither the granting token nor the role may be exceeded (specification.md#access). An empty `given` means
 * that nothing may be granted.
 */
export function delegatedScopes(giver: Giver, role: Role, wanted: readonly Scope[] | null): Delegation {
  if (wanted === null)
    return {
      given: giver.granted === null ? null : roleScopes[role].filter(scope => giver.scopes.includes(scope)),
    }
  for (const scope of wanted) {
    if (!giver.scopes.includes(scope)) return { lacking: scope, whose: 'token' }
    if (!roleScopes[role].includes(scope)) return { lacking: scope, whose: 'role' }
  }
  return { given: roleScopes[role].filter(scope => wanted.includes(scope)) }
}

/**
 * Returns why a token cannot assign that role to a member, or null when it can: a role includes all of its
 * scopes and every repository.
 */
export function refusalToGiveRole(giver: Giver, role: Role): string | null {
  const lacking = roleScopes[role].find(scope => !giver.scopes.includes(scope))
  if (lacking !== undefined)
    return `The role ${role} has the scope ${lacking}, which your token does not have.`
  if (giver.repository_ids !== null)
    return `The role ${role} reaches every repository, and your token only some.`
  return null
}
