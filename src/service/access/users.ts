import type { UpdateMeInput } from '../../contract/organizations/users.ts'
import { type PageRequest, pageNumbers, pageWindow } from '../../core/paging.ts'
import { ServiceError } from '../../core/service-error.ts'
import {
  getCustomPrompt,
  getMember,
  getTokenUser,
  listMembers,
  type UserRow,
  updateUser,
} from '../../store/access/accounts.ts'
import { reachesAllMemberships } from '../../store/access/logins.ts'
import { lockUser } from '../../store/access/members.ts'
import { getOrganization, listOrganizations } from '../../store/access/organizations.ts'
import type { ActorContext, Context } from '../context.ts'
import { audit } from './audit.ts'

const userObject = <User extends UserRow>(user: User) => ({ ...user, is_admin: user.role === 'ADMIN' })
const MAX_AUDITED = 1_000
const notFound = () => new ServiceError('not_found', 'User not found.')

/**
 * Returns the caller. The custom prompt applies in all organizations, so it is shown only to a token that
 * reaches them all, as for a change of it.
 */
export async function getMe(ctx: ActorContext) {
  const user = await getTokenUser(ctx.db, ctx.actor.token_id)
  if (!user) throw notFound()
  const { token_id, token_organization_id } = ctx.actor
  const shown =
    user.custom_prompt !== null &&
    token_organization_id === null &&
    (await reachesAllMemberships(ctx.db, token_id))
  return userObject({ ...user, custom_prompt: shown ? user.custom_prompt : null })
}

/**
 * Changes the caller. Throws 403 for a token that does not reach all organizations of its user, because
 * agents read the prompt in all of them.
 */
export async function updateMe(ctx: ActorContext, input: UpdateMeInput) {
  if (ctx.actor.token_organization_id !== null)
    throw new ServiceError('forbidden', 'Your token is valid for one organization only.')
  const custom_prompt = input.custom_prompt === '' ? null : input.custom_prompt
  const { github_user_id, github_username } = input
  await ctx.db.transaction(async tx => {
    // The lock prevents that a membership begins between the check and the change.
    await lockUser(tx, ctx.actor.user_id)
    if (!(await reachesAllMemberships(tx, ctx.actor.token_id)))
      throw new ServiceError(
        'forbidden',
        'Your sign-in is older than one of your memberships. Sign in again to change your account.',
      )
    await updateUser(tx, ctx.actor.user_id, { ...input, custom_prompt })
    if (github_user_id === undefined && github_username === undefined) return
    // Other members see these fields in each organization, so the change is in the audit log of each.
    const { rows } = await listOrganizations(tx, ctx.actor.token_id, { skip: 0, limit: MAX_AUDITED })
    const target = { type: 'user', id: ctx.actor.user_id } as const
    for (const { id } of rows)
      await audit(tx, { ...ctx, organization_id: id }, 'user.updated', target, {
        github_user_id,
        github_username,
      })
  })
  return getMe(ctx)
}

/**
 * Returns the instructions that agents get in addition to their prompt: of the organization, and of the
 * caller.
 */
export async function getCliRules(ctx: Context) {
  const organization = await getOrganization(ctx.db, ctx.organization_id)
  const user_custom_prompt = await getCustomPrompt(ctx.db, ctx.organization_id, ctx.actor.user_id)
  return { organization_rules: organization?.rules ?? null, user_custom_prompt }
}

/** Returns one page of the organization's users, oldest first. */
export async function listUsers(ctx: Context, query: PageRequest) {
  const window = pageWindow(query)
  const { rows, total } = await listMembers(ctx.db, ctx.organization_id, window)
  return { items: rows.map(userObject), total, ...pageNumbers(total, window) }
}

/**
 * Throws the same 404 for a user of other organizations as for one that does not exist
 * (specification.md#errors).
 */
export async function getUser(ctx: Context, user_id: number) {
  const user = await getMember(ctx.db, ctx.organization_id, user_id)
  if (!user) throw notFound()
  return userObject(user)
}
