import { digest, newToken, tokenPrefix } from '../../core/access/token.ts'
import { ServiceError } from '../../core/service-error.ts'
import { insertToken } from '../../store/access/accounts.ts'
import { insertAuditEntry } from '../../store/access/audit.ts'
import { type FoundUser, findUsers } from '../../store/access/members.ts'
import { firstOrganization } from '../../store/access/organizations.ts'
import { type Db, joined, type Transactional } from '../../store/database.ts'
import { newSignInLink } from './sessions.ts'

/** Whom the operator means: a user by id or address, or else the oldest ADMIN of the organization, or else of the first one. */
export type Wanted = { user: string | null; organization_id: number | null }

/** A token that never expires. It is good for the organization that was named, a service user's for its own, any other for all of its user. */
export async function makeOperatorToken(
  db: Transactional,
  wanted: Wanted,
  { name, wire_profile }: { name: string; wire_profile: 'standard' | 'codegen' },
): Promise<{ token: string; user: FoundUser; organization_id: number | null }> {
  return db.transaction(async tx => {
    const user = await requireUser(tx, wanted)
    const is_service = user.kind === 'service'
    const organization_id = wanted.organization_id ?? (is_service ? (user.organization_ids[0] ?? null) : null)
    const token = newToken(is_service ? 's' : 'p')
    const { id } = await insertToken(tx, {
      ...{ user_id: user.id, kind: is_service ? 'service' : 'personal', name, wire_profile, expires_in_seconds: null, organization_id },
      ...{ digest: digest(token), prefix: tokenPrefix(token), hint: token.slice(-4) },
    })
    await auditOperator(tx, user, organization_id, 'token.created', { type: 'token', id }, { name, user_id: user.id, wire_profile })
    return { token, user, organization_id }
  })
}

/** A link that signs the user in once, within 15 minutes. Whoever runs this owns the machine: no organization is asked. */
export async function makeOperatorLink(
  { db, base_url }: { db: Transactional; base_url: string },
  wanted: Wanted,
): Promise<{ link: string; user: FoundUser }> {
  return db.transaction(async tx => {
    const user = await requireUser(tx, wanted)
    if (user.kind === 'service') throw new ServiceError('conflict', `user ${user.id} is a service user, which never signs in`)
    const link = await newSignInLink({ db: joined(tx), base_url }, user.id)
    await auditOperator(tx, user, null, 'sign_in_link.created', { type: 'member', id: user.id }, {})
    return { link, user }
  })
}

async function requireUser(tx: Db, { user, organization_id }: Wanted): Promise<FoundUser> {
  const key = await keyOf(tx, user, organization_id)
  const [found, another] = await findUsers(tx, { ...key, organization_id })
  if (!found && organization_id !== null && (await findUsers(tx, { ...key, organization_id: null })).length > 0)
    throw new ServiceError('not_found', `user ${user} is no member of organization ${organization_id}`)
  if (!found) throw new ServiceError('not_found', `there is no user ${user}`)
  if (another)
    throw new ServiceError('conflict', `users ${found.id} and ${another.id} both have the address ${user}: give the id of one of them`)
  if (found.organization_ids.length === 0) throw new ServiceError('not_found', `user ${found.id} is a member of no organization`)
  return found
}

async function keyOf(tx: Db, user: string | null, organization_id: number | null) {
  if (user !== null && /^\d{1,15}$/.test(user)) return { id: Number(user), email: null }
  if (user !== null) return { id: null, email: user.trim().toLowerCase() }
  const first = await firstOrganization(tx, organization_id)
  if (first) return { id: first.user_id, email: null }
  if (organization_id === null) throw new ServiceError('not_found', 'there is no organization yet: start the service once')
  throw new ServiceError('not_found', `there is no organization ${organization_id}, or nobody is its ADMIN`)
}

/** In the log of every organization that it opens. No user of the service did it: `by` says who. */
async function auditOperator(
  tx: Db,
  user: FoundUser,
  organization_id: number | null,
  action: string,
  target: { type: 'token' | 'member'; id: number },
  detail: Record<string, unknown>,
): Promise<void> {
  for (const id of organization_id === null ? user.organization_ids : [organization_id])
    await insertAuditEntry(tx, {
      ...{ organization_id: id, user_id: null, token_id: null, action, target_type: target.type, target_id: String(target.id) },
      ...{ detail: JSON.stringify({ by: 'operator', ...detail }), request_id: null },
    })
}
