import type { AddMemberInput, Member } from '../contract/members.ts'
import { refusalToGiveRole } from '../core/delegation.ts'
import { type PageRequest, pageNumbers, pageWindow } from '../core/paging.ts'
import { type Role, roleScopes } from '../core/permissions.ts'
import { ServiceError } from '../core/service-error.ts'
import { insertMembership } from '../store/accounts.ts'
import type { Db } from '../store/database.ts'
import {
  countOtherAdmins,
  deleteMembership,
  findOrInsertPerson,
  holdMembership,
  listMemberships,
  lockMember,
  lockMemberships,
  type MemberRow,
  setRole,
} from '../store/members.ts'
import { voidSignInLinks } from '../store/sessions.ts'
import { revokeTokensOf } from '../store/tokens.ts'
import { audit } from './audit.ts'
import type { Context } from './context.ts'
import { givenSignInLink, refusalToSignIn } from './sign-in-links.ts'

/** A member as the API shows it. When somebody signed in is not told: it may have been for another organization. */
const memberObject = ({ last_sign_in_at, created_at, ...row }: MemberRow): Member => ({
  ...row,
  has_signed_in: last_sign_in_at !== null,
  created_at: created_at.toISOString(),
})

/** One page of members, people and service users, oldest first. */
export async function listMembers(ctx: Context, query: PageRequest) {
  const window = pageWindow(query)
  const { rows, total } = await listMemberships(ctx.db, ctx.organization_id, null, window.skip, window.limit)
  return { items: rows.map(memberObject), total, ...pageNumbers(total, window) }
}

/** 404 for a user of other organizations, as for one that never was. */
export async function requireMember(tx: Db, ctx: Context, user_id: number): Promise<MemberRow> {
  const member = await holdMembership(tx, ctx.organization_id, user_id)
  if (!member) throw new ServiceError('not_found', 'User not found.')
  return member
}

/** 403 when the role allows more than the caller's token does. */
export function requireToGive(ctx: Context, role: Role): void {
  const { granted, repository_ids } = ctx.actor
  const refusal = refusalToGiveRole({ granted, repository_ids, scopes: ctx.scopes }, role)
  if (refusal !== null)
    throw new ServiceError('forbidden', refusal, { errors: [{ loc: ['body', 'role'], msg: refusal, type: 'forbidden' }] })
}

/**
 * Makes a person a member: who has the address already, or somebody new. With a sign-in link when they never signed in and the caller may
 * give one. Links that others gave to somebody who was not a member here yet are void: they would open this organization too.
 */
export async function addMember(ctx: Context, input: AddMemberInput) {
  requireToGive(ctx, input.role)
  return ctx.db.transaction(async tx => {
    await lockMemberships(tx, ctx.organization_id)
    const { id } = await findOrInsertPerson(tx, { email: input.email, full_name: input.full_name ?? null })
    if (!(await insertMembership(tx, ctx.organization_id, id, input.role)))
      throw new ServiceError('conflict', `${input.email} is a member of this organization already.`)
    await voidSignInLinks(tx, id)
    const member = await requireMember(tx, ctx, id)
    await audit(tx, ctx, 'member.added', { type: 'member', id }, { email: input.email, role: input.role })
    const needs_link = member.last_sign_in_at === null && (await refusalToSignIn(tx, ctx, member)) === null
    const link = needs_link ? await givenSignInLink(tx, ctx, id) : { sign_in_link: null, sign_in_link_expires_at: null }
    return { ...memberObject(member), ...link }
  })
}

/** 409 for the last person who is ADMIN. The same role: unchanged. */
export async function updateMember(ctx: Context, user_id: number, role: Role): Promise<Member> {
  return ctx.db.transaction(async tx => {
    await lockMemberships(tx, ctx.organization_id)
    const member = await requireMember(tx, ctx, user_id)
    if (member.role === role) return memberObject(member)
    if (roleScopes[role].some(scope => !roleScopes[member.role].includes(scope))) requireToGive(ctx, role)
    await requireAnotherAdmin(tx, member)
    await setRole(tx, ctx.organization_id, user_id, role)
    await audit(tx, ctx, 'member.updated', { type: 'member', id: user_id }, { role: { from: member.role, to: role } })
    return memberObject({ ...member, role })
  })
}

/** Ends a membership, and with it the tokens that are bound to the organization. 409 for the last person who is ADMIN. */
export async function removeMember(ctx: Context, user_id: number): Promise<Member> {
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

/** The member is locked. Answers the ids of the tokens that were revoked. */
export async function endMembership(tx: Db, { organization_id, user_id }: MemberRow): Promise<number[]> {
  await deleteMembership(tx, organization_id, user_id)
  await voidSignInLinks(tx, user_id)
  return revokeTokensOf(tx, organization_id, user_id)
}

/** Without a person who is ADMIN nobody could mend anything; a service user cannot sign in, so it does not count. */
async function requireAnotherAdmin(tx: Db, { organization_id, user_id, role, kind }: MemberRow): Promise<void> {
  if (role !== 'ADMIN' || kind === 'service' || (await countOtherAdmins(tx, organization_id, user_id)) > 0) return
  throw new ServiceError('conflict', 'This is the last ADMIN of the organization. Make somebody else ADMIN first.')
}
