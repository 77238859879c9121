import { refusalToGiveRole } from '../../core/access/delegation.ts'
import { digest, newSignInCode } from '../../core/access/token.ts'
import { ServiceError } from '../../core/service-error.ts'
import { loginOf, whole_account } from '../../store/access/logins.ts'
import { belongsElsewhere, holdMembership, lockMember, type MemberRow } from '../../store/access/members.ts'
import { insertSignInLink, voidSignInLinks } from '../../store/access/sessions.ts'
import type { Db } from '../../store/database.ts'
import type { Context } from '../context.ts'
import { audit } from './audit.ts'
import { requireScope } from './authenticate.ts'
import { signInAddress } from './sessions.ts'

/** Long enough for a link that travels by mail. */
const GIVEN_LINK_MINUTES = 24 * 60

/**
 * Creates a sign-in link for the caller, or by an administrator for another member, and voids older unused
 * links that open no more. Throws 404, 403 and 409 as `refusalToSignIn`.
 */
export async function createSignInLink(ctx: Context, user_id: number) {
  if (user_id !== ctx.actor.user_id) requireScope(ctx.actor, ctx.role, 'org:admin')
  return ctx.db.transaction(async tx => {
    await lockMember(tx, ctx.organization_id, user_id)
    const member = await holdMembership(tx, ctx.organization_id, user_id)
    if (!member) throw new ServiceError('not_found', 'User not found.')
    const refusal = await refusalToSignIn(tx, ctx, member)
    if (refusal) throw refusal
    const code = newSignInCode()
    // A link for the caller opens no more than the credential that creates it, and voids no link that opens
    // more.
    const own = user_id === ctx.actor.user_id
    const login = own ? await loginOf(tx, { token_id: ctx.actor.token_id, session_digest: null }) : null
    if (login === undefined) throw new ServiceError('unauthorized', 'The bearer token is missing or invalid.')
    await voidSignInLinks(tx, user_id, login ?? whole_account)
    const { expires_at } = await insertSignInLink(tx, {
      digest: digest(code),
      user_id,
      minutes: GIVEN_LINK_MINUTES,
      login,
    })
    await audit(tx, ctx, 'sign_in_link.created', { type: 'member', id: user_id })
    return {
      sign_in_link: signInAddress(ctx.base_url, code),
      sign_in_link_expires_at: expires_at.toISOString(),
    }
  })
}

/**
 * Returns why the caller may not sign a member in. The holder of the link is that user, everywhere and for
 * weeks: so the caller's token must have all that the member has and never expire, and the member must belong
 * to no other organization (decisions.md#sign-in-links-only-for-single-members).
 */
async function refusalToSignIn(tx: Db, ctx: Context, member: MemberRow): Promise<ServiceError | null> {
  const { actor } = ctx
  if (member.kind === 'service')
    return new ServiceError('conflict', 'A service user never signs in. Create a token for it instead.')
  const beyond = refusalToGiveRole(
    { granted: actor.granted, repository_ids: actor.repository_ids, scopes: ctx.scopes },
    member.role,
  )
  if (beyond !== null) return new ServiceError('forbidden', beyond)
  if (actor.expires_at !== null && actor.kind !== 'browser')
    return new ServiceError('forbidden', 'Your token expires, and a sign-in would outlive it.')
  const unbounded = actor.granted === null && actor.token_organization_id === null
  if (unbounded && member.user_id === actor.user_id) return null
  if (!(await belongsElsewhere(tx, ctx.organization_id, member.user_id))) return null
  return new ServiceError(
    'conflict',
    'This account signs in by its own means: an organization cannot create a sign-in link for it. The operator of the service can.',
  )
}
