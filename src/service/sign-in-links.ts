import { refusalToGiveRole } from '../core/delegation.ts'
import { ServiceError } from '../core/service-error.ts'
import { digest, newSignInCode } from '../core/token.ts'
import type { Db } from '../store/database.ts'
import { belongsElsewhere, holdMembership, lockMember, type MemberRow } from '../store/members.ts'
import { insertSignInLink, voidSignInLinks } from '../store/sessions.ts'
import { audit } from './audit.ts'
import type { Context } from './context.ts'
import { signInAddress } from './sessions.ts'

/** Long enough for a link that travels by mail. */
const GIVEN_LINK_MINUTES = 24 * 60

/** A fresh link for a member; older ones that nobody used are void. 404, 403 and 409 as `refusalToSignIn` says. */
export async function createSignInLink(ctx: Context, user_id: number) {
  return ctx.db.transaction(async tx => {
    await lockMember(tx, ctx.organization_id, user_id)
    const member = await holdMembership(tx, ctx.organization_id, user_id)
    if (!member) throw new ServiceError('not_found', 'User not found.')
    const refusal = await refusalToSignIn(tx, ctx, member)
    if (refusal) throw refusal
    await voidSignInLinks(tx, user_id)
    return givenSignInLink(tx, ctx, user_id)
  })
}

/** The caller has locked the user. */
export async function givenSignInLink(tx: Db, ctx: Context, user_id: number) {
  const code = newSignInCode()
  const { expires_at } = await insertSignInLink(tx, digest(code), user_id, GIVEN_LINK_MINUTES)
  await audit(tx, ctx, 'sign_in_link.created', { type: 'member', id: user_id })
  return { sign_in_link: signInAddress(ctx.base_url, code), sign_in_link_expires_at: expires_at.toISOString() }
}

/**
 * Why the caller may not sign a member in. Whoever holds the link is that user, everywhere and for weeks: so the caller's token must have
 * all that the member has, never expire, and the member be in no organization that the caller does not administer too.
 */
export async function refusalToSignIn(tx: Db, ctx: Context, member: MemberRow): Promise<ServiceError | null> {
  const { actor } = ctx
  if (member.kind === 'service') return new ServiceError('conflict', 'A service user never signs in. Make a token for it instead.')
  const beyond = refusalToGiveRole({ granted: actor.granted, repository_ids: actor.repository_ids, scopes: ctx.scopes }, member.role)
  if (beyond !== null) return new ServiceError('forbidden', beyond)
  if (actor.expires_at !== null && actor.kind !== 'browser')
    return new ServiceError('forbidden', 'Your token expires, and a sign-in would outlive it.')
  const everywhere = actor.granted === null && actor.token_organization_id === null
  if (everywhere && member.user_id === actor.user_id) return null
  if (!(await belongsElsewhere(tx, ctx.organization_id, member.user_id, everywhere ? actor.user_id : null))) return null
  return new ServiceError(
    'conflict',
    'This user belongs to another organization too, which the link would open. Only who administers all of them, or the operator of the service, can give one.',
  )
}
