import { type PageRequest, pageNumbers, pageWindow } from '../core/paging.ts'
import { ServiceError } from '../core/service-error.ts'
import { getMember, getUser as getUserRow, listMembers, type UserRow } from '../store/accounts.ts'
import type { ActorContext, Context } from './context.ts'

const userObject = (user: UserRow) => ({ ...user, is_admin: user.role === 'ADMIN' })
const notFound = () => new ServiceError('not_found', 'User not found.')

/** The caller. */
export async function getMe(ctx: ActorContext) {
  const user = await getUserRow(ctx.db, ctx.actor.user_id)
  if (!user) throw notFound()
  return userObject(user)
}

/** One page of the organization's users, oldest first. */
export async function listUsers(ctx: Context, query: PageRequest) {
  const window = pageWindow(query)
  const { rows, total } = await listMembers(ctx.db, ctx.organization_id, window.skip, window.limit)
  return { items: rows.map(userObject), total, ...pageNumbers(total, window) }
}

/** 404 for a user of other organizations, as for one that never was (decisions §6). */
export async function getUser(ctx: Context, user_id: number) {
  const user = await getMember(ctx.db, ctx.organization_id, user_id)
  if (!user) throw notFound()
  return userObject(user)
}
