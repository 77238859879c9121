import type { CreateServiceUserInput, ServiceUser } from '../../contract/organizations/members.ts'
import { type PageRequest, pageNumbers, pageWindow } from '../../core/paging.ts'
import { ServiceError } from '../../core/service-error.ts'
import { insertMembership } from '../../store/access/accounts.ts'
import {
  insertServiceUser,
  listMemberships,
  lockMember,
  lockMemberships,
  type MemberRow,
} from '../../store/access/members.ts'
import type { Context } from '../context.ts'
import { audit } from './audit.ts'
import { endMembership, requireMayGrant, requireMember } from './members.ts'

const serviceUserObject = (row: MemberRow): ServiceUser => ({
  id: row.user_id,
  organization_id: row.organization_id,
  name: row.full_name ?? '',
  role: row.role,
  created_at: row.created_at.toISOString(),
})

/** Returns one page of service users, oldest first. */
export async function listServiceUsers(ctx: Context, query: PageRequest) {
  const window = pageWindow(query)
  const { rows, total } = await listMemberships(ctx.db, ctx.organization_id, 'service', window)
  return { items: rows.map(serviceUserObject), total, ...pageNumbers(total, window) }
}

/** Throws 403 for a role that allows more than the caller's token does. */
export async function createServiceUser(
  ctx: Context,
  { name, role }: CreateServiceUserInput,
): Promise<ServiceUser> {
  requireMayGrant(ctx, role)
  return ctx.db.transaction(async tx => {
    const { id } = await insertServiceUser(tx, ctx.organization_id, name)
    await insertMembership(tx, ctx.organization_id, id, role)
    await audit(tx, ctx, 'service_user.created', { type: 'user', id }, { name, role })
    return serviceUserObject(await requireMember(tx, ctx, id))
  })
}

/**
 * Ends the membership and the tokens of a service user; the user itself stays, because runs refer to it.
 * Throws 404 for a person.
 */
export async function deleteServiceUser(ctx: Context, user_id: number): Promise<ServiceUser> {
  return ctx.db.transaction(async tx => {
    await lockMemberships(tx, ctx.organization_id)
    await lockMember(tx, ctx.organization_id, user_id)
    const member = await requireMember(tx, ctx, user_id)
    if (member.kind !== 'service') throw new ServiceError('not_found', 'User not found.')
    const tokens_revoked = await endMembership(tx, member)
    await audit(
      tx,
      ctx,
      'service_user.deleted',
      { type: 'user', id: user_id },
      { name: member.full_name, tokens_revoked },
    )
    return serviceUserObject(member)
  })
}
