import type { AuditAction } from '../../contract/organizations/audit-actions.ts'
import { digest, newToken, tokenPrefix } from '../../core/access/token.ts'
import { ServiceError } from '../../core/service-error.ts'
import { insertAuditEntry } from '../../store/access/audit.ts'
import { type FoundUser, findUsers } from '../../store/access/members.ts'
import { firstOrganization } from '../../store/access/organizations.ts'
import { insertToken } from '../../store/access/token-access.ts'
import { type Db, joined, type Transactional } from '../../store/database.ts'
import { newSignInLink } from './sessions.ts'

/**
 * The user that the operator names, by id or address; without one the oldest ADMIN of the organization, or of
 * the first organization.
 */
type OperatorTarget = { user: string | null; organization_id: number | null }

/**
 * Creates a token that never expires: for the named organization, for the own organization of a service user,
 * or for all organizations of a person.
 */
export async function createOperatorToken(
  db: Transactional,
  target: OperatorTarget,
  { name, wire_profile }: { name: string; wire_profile: 'standard' | 'codegen' },
): Promise<{ token: string; user: FoundUser; organization_id: number | null }> {
  return db.transaction(async tx => {
    const user = await requireUser(tx, target)
    const is_service = user.kind === 'service'
    const organization_id = target.organization_id ?? (is_service ? (user.organization_ids[0] ?? null) : null)
    const token = newToken(is_service ? 's' : 'p')
    const { id } = await insertToken(tx, {
      user_id: user.id,
      kind: is_service ? 'service' : 'personal',
      name,
      wire_profile,
      expires_in_seconds: null,
      organization_id,
      digest: digest(token),
      prefix: tokenPrefix(token),
      hint: token.slice(-4),
    })
    await auditOperator(tx, user, organization_id, {
      action: 'token.created',
      type: 'token',
      id,
      detail: { name, user_id: user.id, wire_profile },
    })
    return { token, user, organization_id }
  })
}

/**
 * Creates a link that signs the user in once, within 15 minutes. The operator owns the machine, so no
 * organization authorizes this.
 */
export async function createOperatorLink(
  { db, base_url }: { db: Transactional; base_url: string },
  target: OperatorTarget,
): Promise<{ link: string; user: FoundUser }> {
  return db.transaction(async tx => {
    const user = await requireUser(tx, target)
    if (user.kind === 'service')
      throw new ServiceError('conflict', `user ${user.id} is a service user, which never signs in`)
    const link = await newSignInLink({ db: joined(tx), base_url }, user.id)
    await auditOperator(tx, user, null, { action: 'sign_in_link.created', type: 'member', id: user.id })
    return { link, user }
  })
}

async function requireUser(tx: Db, { user, organization_id }: OperatorTarget): Promise<FoundUser> {
  const key = await keyOf(tx, user, organization_id)
  const [found, another] = await findUsers(tx, { ...key, organization_id })
  if (
    !found &&
    organization_id !== null &&
    (await findUsers(tx, { ...key, organization_id: null })).length > 0
  )
    throw new ServiceError('not_found', `user ${user} is not a member of organization ${organization_id}`)
  if (!found) throw new ServiceError('not_found', `user ${user} does not exist`)
  if (another)
    throw new ServiceError(
      'conflict',
      `users ${found.id} and ${another.id} both have the address ${user}: use the id of one of them`,
    )
  if (found.organization_ids.length === 0)
    throw new ServiceError('not_found', `user ${found.id} is not a member of any organization`)
  return found
}

async function keyOf(tx: Db, user: string | null, organization_id: number | null) {
  if (user !== null && /^\d{1,15}$/.test(user)) return { id: Number(user), email: null }
  if (user !== null) return { id: null, email: user.trim().toLowerCase() }
  const first = await firstOrganization(tx, organization_id)
  if (first) return { id: first.user_id, email: null }
  if (organization_id === null)
    throw new ServiceError('not_found', 'no organization exists yet: start the service once')
  throw new ServiceError('not_found', `organization ${organization_id} does not exist or has no ADMIN`)
}

type OperatorAct = {
  action: AuditAction
  type: 'token' | 'member'
  id: number
  detail?: Record<string, unknown>
}

/**
 * Records the act in the audit log of every organization that it gives access to. No user of the service did
 * it: `by` names the operator.
 */
async function auditOperator(
  tx: Db,
  user: FoundUser,
  organization_id: number | null,
  act: OperatorAct,
): Promise<void> {
  const { action, type, id, detail } = act
  for (const audited_id of organization_id === null ? user.organization_ids : [organization_id])
    await insertAuditEntry(tx, {
      organization_id: audited_id,
      user_id: null,
      token_id: null,
      action,
      target_type: type,
      target_id: String(id),
      detail: { by: 'operator', ...detail },
      request_id: null,
    })
}
