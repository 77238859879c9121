import type { Scope } from '../../contract/endpoint.ts'
import { type Role, roleScopes } from './permissions.ts'

/** What bounds the token that asks: `scopes` is what it may do here, `granted` null when nothing but its user's role bounds that. */
export type Giver = { granted: readonly string[] | null; scopes: readonly Scope[]; repository_ids: readonly number[] | null }

/** `given` null: whatever the role allows. `lacking`: whose lack of which scope forbids it. */
export type Delegated = { given: Scope[] | null } | { lacking: Scope; whose: 'token' | 'role' }

/**
 * The scopes of a new token for a user of that role: the wanted ones, or else all that may be given. Nobody gives what they do not have,
 * and nobody is given what their role does not allow (specification.md#access). An empty `given`: nothing may be given.
 */
export function delegatedScopes(giver: Giver, role: Role, wanted: readonly Scope[] | null): Delegated {
  if (wanted === null) return { given: giver.granted === null ? null : roleScopes[role].filter(scope => giver.scopes.includes(scope)) }
  for (const scope of wanted) {
    if (!giver.scopes.includes(scope)) return { lacking: scope, whose: 'token' }
    if (!roleScopes[role].includes(scope)) return { lacking: scope, whose: 'role' }
  }
  return { given: roleScopes[role].filter(scope => wanted.includes(scope)) }
}

/** Why a token cannot make somebody a member of that role, or null when it can: a role gives all of its scopes and every repository. */
export function refusalToGiveRole(giver: Giver, role: Role): string | null {
  const lacking = roleScopes[role].find(scope => !giver.scopes.includes(scope))
  if (lacking !== undefined) return `The role ${role} has the scope ${lacking}, which your token does not have.`
  if (giver.repository_ids !== null) return `The role ${role} reaches every repository, and your token only some.`
  return null
}
