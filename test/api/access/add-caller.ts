import { randomUUID } from 'node:crypto'
import type { Scope } from '../../../src/contract/endpoint.ts'
import type { Role } from '../../../src/core/access/permissions.ts'
import { digest, newToken } from '../../../src/core/access/token.ts'
import { insertMembership, insertUser } from '../../../src/store/access/accounts.ts'
import { insertToken } from '../../../src/store/access/token-access.ts'
import type { Database } from '../../../src/store/database.ts'

type Limits = { scopes?: Scope[] | null; bound_to?: number | null; expires_in_seconds?: number | null }

/**
 * A new user in these organizations, and a token of that user that may be limited: to scopes, to one
 * organization, in time.
 */
export async function addCaller(
  { db }: { db: Database },
  org_ids: number[],
  role: Role,
  limits: Limits = {},
): Promise<string> {
  const name = `caller ${randomUUID()}`
  const token = newToken('p')
  const { id: user_id } = await insertUser(db, { full_name: name })
  for (const org_id of org_ids) await insertMembership(db, org_id, user_id, role)
  await insertToken(db, {
    user_id,
    kind: 'personal',
    name,
    digest: digest(token),
    wire_profile: 'standard',
    expires_in_seconds: limits.expires_in_seconds ?? null,
    organization_id: limits.bound_to ?? null,
    scopes: limits.scopes ?? null,
  })
  return token
}
