import type { Member, UpdateMemberInput } from '../../contract/organizations/members.ts'
import { refusalToGiveRole } from '../../core/access/delegation.ts'
import { type Role, roleScopes } from '../../core/access/permissions.ts'
import { type PageRequest, pageNumbers, pageWindow } from '../../core/paging.ts'
import { ServiceError } from '../../core/service-error.ts'
import { deleteInvitationsBy } from '../../store/access/invitations.ts'
import {
  countOtherAdmins,
  deleteMembership,
  holdMembership,
  listMemberships,
  lockMember,
  lockMemberships,
  type MemberRow,
  setGithubAccount,
  setRole,
} from '../../store/access/members.ts'
import { voidSignInLinks } from '../../store/access/sessions.ts'
import { revokeTokensOf } from '../../store/access/tokens.ts'
import type { Db } from '../../store/database.ts'
import type { Context } from '../context.ts'
import { audit } from './audit.ts'
import { requireScope } from './authenticate.ts'

/**
 * Returns a member as the API shows it. The time of the last sign-in is left out: it may have been for
 * another organization.
 */
export const memberObject = ({ last_sign_in_at, created_at, ...row }: MemberRow): Member => ({
  ...row,
  has_signed_in: last_sign_in_at !== null,
  created_at: created_at.toISOString(),
})

/** Returns one page of members, people and service users, oldest first. */
export async function listMembers(ctx: Context, query: PageRequest) {
  const window = pageWindow(query)
  const { rows, total } = await listMemberships(ctx.db, ctx.organization_id, null, window)
  return { items: rows.map(memberObject), total, ...pageNumbers(total, window) }
}

/** Throws the same 404 for a user of other organizations as for one that does not exist. */
export async function requireMember(
  tx: Db,
  ctx: Pick<Context, 'organization_id'>,
  user_id: number,
): Promise<MemberRow> {
  const member = await holdMembership(tx, ctx.organization_id, user_id)
  if (!member) throw new ServiceError('not_found', 'User not found.')
  return member
}

/** Throws 403 when the role allows more than the caller's token does. */
export function requireMayGrant(ctx: Context, role: Role): void {
  const { granted, repository_ids } = ctx.actor
  const refusal = refusalToGiveRole({ granted, repository_ids, scopes: ctx.scopes }, role)
  if (refusal !== null)
    throw new ServiceError('forbidden', refusal, {
      errors: [{ loc: ['body', 'role'], msg: refusal, type: 'forbidden' }],
    })
}

/**
 * Changes the role, or the GitHub account that is shown for a member. A change of role revokes the open
 * invitations that the member created. Throws 409 for the last person who is ADMIN. The same role changes
 * nothing.
 */
export async function updateMember(
  ctx: Context,
  user_id: number,
  change: UpdateMemberInput,
): Promise<Member> {
  return ctx.db.transaction(async tx => {
    await lockMemberships(tx, ctx.organization_id)
    const member = await requireMember(tx, ctx, user_id)
    if (change.role !== undefined) await changeRole(tx, ctx, member, change.role)
    const { github_user_id, github_username } = change
    if (github_user_id !== undefined || github_username !== undefined) {
      await setGithubAccount(tx, ctx.organization_id, user_id, change)
      await audit(
        tx,
        ctx,
        'member.updated',
        { type: 'member', id: user_id },
        { github_user_id, github_username },
      )
    }
    return memberObject(await requireMember(tx, ctx, user_id))
  })
}

async function changeRole(tx: Db, ctx: Context, member: MemberRow, role: Role): Promise<void> {
  if (member.role === role) return
  if (roleScopes[role].some(scope => !roleScopes[member.role].includes(scope))) requireMayGrant(ctx, role)
  await requireAnotherAdmin(tx, member)
  await setRole(tx, ctx.organization_id, member.user_id, role)
  await deleteInvitationsBy(tx, ctx.organization_id, member.user_id)
  await audit(
    tx,
    ctx,
    'member.updated',
    { type: 'member', id: member.user_id },
    { role: { from: member.role, to: role } },
  )
}

/** Administrators remove members. People leave with a token that has all scopes of their role. */
function requireToRemove({ actor, role, scopes }: Context, user_id: number): void {
  if (user_id !== actor.user_id || actor.kind === 'service' || scopes.includes('org:admin')) {
    requireScope(actor, role, 'org:admin')
    return
  }
  const refusal = refusalToGiveRole(
    { granted: actor.granted, repository_ids: actor.repository_ids, scopes },
    role,
  )
  if (refusal !== null) throw new ServiceError('forbidden', refusal)
}

/**
 * Ends a membership and revokes the tokens that are bound to the organization. Throws 409 for the last person
 * who is ADMIN.
 */
export async function removeMember(ctx: Context, user_id: number): Promise<Member> {
  requireToRemove(ctx, user_id)
  return ctx.db.transaction(async tx => {
    await lockMemberships(tx, ctx.organization_id)
    await lockMember(tx, ctx.organization_id, user_id)
    const member = await requireMember(tx, ctx, user_id)
    await requireAnotherAdmin(tx, member)
    const tokens_revoked = await endMembership(tx, member)
    const { email, role } = member
    await audit(tx, ctx, 'member.removed', { type: 'member', id: user_id }, { email, role, tokens_revoked })
    return memberObject(member)
  })
}

/**
 * Expects the member to be locked. Revokes the open invitations that the member created. Returns the ids of
 * the revoked tokens.
 */
export async function endMembership(tx: Db, { organization_id, user_id }: MemberRow): Promise<number[]> {
  await deleteMembership(tx, organization_id, user_id)
  await deleteInvitationsBy(tx, organization_id, user_id)
  // Links that open other organizations stay.
  await voidSignInLinks(tx, user_id, null)
  return revokeTokensOf(tx, organization_id, user_id)
}

/**
 * Without a person who is ADMIN the organization could not be managed; a service user cannot sign in, so it
 * does not count.
 */
async function requireAnotherAdmin(
  tx: Db,
  { organization_id, user_id, role, kind }: MemberRow,
): Promise<void> {
  if (role !== 'ADMIN' || kind === 'service' || (await countOtherAdmins(tx, organization_id, user_id)) > 0)
    return
  throw new ServiceError(
    'conflict',
    'This is the last ADMIN of the organization. Give another member the role ADMIN first.',
  )
}
