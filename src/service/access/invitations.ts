import type { AddMemberInput, Invitation } from '../../contract/organizations/members.ts'
import { digest, newSignInCode } from '../../core/access/token.ts'
import { type PageRequest, pageNumbers, pageWindow } from '../../core/paging.ts'
import { ServiceError } from '../../core/service-error.ts'
import { insertMembership, insertUser } from '../../store/access/accounts.ts'
import { insertAuditEntry } from '../../store/access/audit.ts'
import {
  deleteInvitation,
  findInvitation,
  type InvitationRow,
  listInvitations as listInvitationRows,
  saveInvitation,
} from '../../store/access/invitations.ts'
import { addAcceptance, type Credential, loginOf } from '../../store/access/logins.ts'
import { hasMemberOf, lockMemberships, lockUser } from '../../store/access/members.ts'
import { voidSignInLinks } from '../../store/access/sessions.ts'
import type { Db } from '../../store/database.ts'
import type { ActorContext, Context, Services } from '../context.ts'
import { audit } from './audit.ts'
import { memberObject, requireMayGrant, requireMember } from './members.ts'

const INVITATION_DAYS = 7

/** Returns the address that opens an invitation. The code follows `#`, so it does not reach server logs. */
const invitationAddress = (base_url: string, code: string) => `${base_url}/invitation#code=${code}`

const invitationObject = ({ expires_at, created_at, ...row }: InvitationRow): Invitation => ({
  ...row,
  created_at: created_at.toISOString(),
  expires_at: expires_at.toISOString(),
})

/**
 * Invites a person into the organization; whether the address has an account elsewhere is neither checked nor
 * shown. Replaces an open invitation of the same address. Throws 403 for a role beyond the caller's token and
 * for a token that expires, 409 for an address of a member.
 */
export async function inviteMember(ctx: Context, { email, full_name = null, role }: AddMemberInput) {
  requireMayGrant(ctx, role)
  if (ctx.actor.expires_at !== null && ctx.actor.kind !== 'browser')
    throw new ServiceError('forbidden', 'Your token expires, and the membership would outlive it.')
  const code = newSignInCode()
  return ctx.db.transaction(async tx => {
    await lockMemberships(tx, ctx.organization_id)
    await requireNewAddress(tx, ctx.organization_id, email)
    const invited = {
      email,
      full_name,
      role,
      created_by: ctx.actor.user_id,
      digest: digest(code),
      days: INVITATION_DAYS,
    }
    const row = await saveInvitation(tx, ctx.organization_id, invited)
    await audit(tx, ctx, 'member.invited', { type: 'invitation', id: row.id }, { email, role })
    return { ...invitationObject(row), invitation_link: invitationAddress(ctx.base_url, code) }
  })
}

/** Returns one page of the open invitations, oldest first. */
export async function listInvitations(ctx: Context, query: PageRequest) {
  const window = pageWindow(query)
  const { rows, total } = await listInvitationRows(ctx.db, ctx.organization_id, window)
  return { items: rows.map(invitationObject), total, ...pageNumbers(total, window) }
}

/**
 * Revokes an invitation, so that its link is void. Throws 404 when it was accepted, revoked or replaced, and
 * for one of another organization.
 */
export async function revokeInvitation(ctx: Context, invitation_id: number): Promise<Invitation> {
  return ctx.db.transaction(async tx => {
    const row = await deleteInvitation(tx, ctx.organization_id, invitation_id)
    if (!row) throw new ServiceError('not_found', 'Invitation not found.')
    await audit(
      tx,
      ctx,
      'invitation.revoked',
      { type: 'invitation', id: row.id },
      { email: row.email, role: row.role },
    )
    return invitationObject(row)
  })
}

/** Returns the invitation that a code is for. Throws 404 as `acceptInvitation`. */
export async function viewInvitation({ db }: Pick<Services, 'db'>, code: string) {
  const { organization_id, organization_name, email, full_name, role, expires_at } = await requireInvitation(
    db,
    code,
  )
  return { organization_id, organization_name, email, full_name, role, expires_at: expires_at.toISOString() }
}

/**
 * Joins the caller's account to the organization. Throws 403 for a token that is bound to an organization,
 * scopes or repositories, because accepting affects the whole account.
 */
export async function acceptInvitation(ctx: ActorContext, code: string) {
  return ctx.db.transaction(async tx => {
    await requireInvitation(tx, code)
    const { actor } = ctx
    if (actor.token_organization_id !== null || actor.granted !== null)
      throw new ServiceError(
        'forbidden',
        'Only a token of your whole account can accept. Open the invitation in a browser instead.',
      )
    const credential = { token_id: actor.token_id, session_digest: null }
    const { organization_id } = await join(tx, code, {
      user_id: actor.user_id,
      credential,
      request_id: ctx.request_id,
    })
    return memberObject(await requireMember(tx, { organization_id }, actor.user_id))
  })
}

/** The accepting account with one of its credentials; both null: a new account. */
type AcceptingAccount = (
  | { user_id: number; credential: Credential }
  | { user_id: null; credential: null }
) & {
  request_id: string | null
}

/**
 * Consumes an invitation in the caller's transaction and creates the membership; of the account's credentials
 * only the accepting one reaches it. Voids the user's unused sign-in links that reach no more than that
 * credential did: their creators had authority over less. `at`: the start of the membership. Throws 404 for a
 * code that is wrong, used, revoked or expired, 409 for a member.
 */
export async function join(
  tx: Db,
  code: string,
  who: AcceptingAccount,
): Promise<{ organization_id: number; user_id: number; at: string }> {
  const { organization_id } = await requireInvitation(tx, code)
  await lockMemberships(tx, organization_id)
  if (who.user_id !== null) await lockUser(tx, who.user_id)
  // Read again under the locks: no other acceptance or revocation can intervene now.
  const { id, email, full_name, role, created_by } = await requireInvitation(tx, code)
  const user_id = who.user_id ?? (await insertUser(tx, { full_name })).id
  await deleteInvitation(tx, organization_id, id)
  await requireNewAddress(tx, organization_id, email)
  const acceptance = await insertMembership(tx, organization_id, user_id, role, email)
  if (!acceptance) throw new ServiceError('conflict', 'This account is already a member of the organization.')
  if (who.credential) {
    await voidSignInLinks(tx, user_id, (await loginOf(tx, who.credential)) ?? null)
    await addAcceptance(tx, user_id, who.credential, acceptance.id)
  }
  await insertAuditEntry(tx, {
    organization_id,
    user_id,
    token_id: who.credential?.token_id ?? null,
    action: 'member.added',
    target_type: 'member',
    target_id: String(user_id),
    detail: { email, role, invitation_id: id, invited_by: created_by },
    request_id: who.request_id,
  })
  return { organization_id, user_id, at: acceptance.at }
}

async function requireNewAddress(tx: Db, organization_id: number, email: string): Promise<void> {
  if (await hasMemberOf(tx, organization_id, email))
    throw new ServiceError('conflict', `${email} is already a member of this organization.`)
}

async function requireInvitation(db: Db, code: string) {
  const invitation = await findInvitation(db, digest(code))
  if (invitation) return invitation
  throw new ServiceError(
    'not_found',
    'This invitation is wrong, used, revoked or expired. Request a new one from the person who invited you.',
  )
}
