import type {
  CreateOrganizationInput,
  UpdateOrganizationInput,
} from '../../contract/organizations/organizations.ts'
import { type PageRequest, pageNumbers, pageWindow } from '../../core/paging.ts'
import { ServiceError } from '../../core/service-error.ts'
import { plainDecimal } from '../../core/text/plain-decimal.ts'
import { getTokenUser, insertMembership } from '../../store/access/accounts.ts'
import { addAcceptance } from '../../store/access/logins.ts'
import {
  countCreatedOrganizations,
  getOrganization as getOrganizationRow,
  insertOrganization,
  listOrganizations as listOrganizationRows,
  type OrganizationRow,
  updateOrganization as updateOrganizationRow,
} from '../../store/access/organizations.ts'
import { holdRepository } from '../../store/access/repositories.ts'
import { isAdminSomewhere } from '../../store/access/token-access.ts'
import type { Db } from '../../store/database.ts'
import { notifyWork } from '../../store/notify.ts'
import { audit } from '../access/audit.ts'
import type { ActorContext, Context } from '../context.ts'
import { repositoryNotFound } from '../repositories/repositories.ts'
import { requireModel } from './models.ts'

const switchesOf = ({ enable_pr_creation, enable_rules_detection }: OrganizationRow) => ({
  enable_pr_creation,
  enable_rules_detection,
})
const settingsOf = (row: OrganizationRow) => ({
  default_repo_id: row.default_repository_id,
  default_model: row.default_model,
  reasoning_effort: row.reasoning_effort,
  review: row.review,
  agent_permissions: row.agent_permissions,
  branch_prefix: row.branch_prefix,
  approval_paths: row.approval_paths,
  rules: row.rules,
  max_concurrent_runs: row.max_concurrent_runs,
  budget_usd_per_month: row.budget_usd_per_month === null ? null : plainDecimal(row.budget_usd_per_month),
  runs_per_month: row.runs_per_month,
})
const detail = (row: OrganizationRow) => ({
  id: row.id,
  name: row.name,
  settings: switchesOf(row),
  ...settingsOf(row),
})

/** Returns the organizations that the caller's token reaches. */
export async function listOrganizations(ctx: ActorContext, query: PageRequest) {
  const window = pageWindow(query)
  const { rows, total } = await listOrganizationRows(ctx.db, ctx.actor.token_id, window)
  const items = rows.map(row => ({ id: row.id, name: row.name, settings: switchesOf(row) }))
  return { items, total, ...pageNumbers(total, window) }
}

/**
 * Creates another organization, with the caller as its ADMIN; of the caller's sessions and tokens only this
 * one reaches it. Throws 403 for a caller who is ADMIN of none or has created as many as the operator allows,
 * and for a token that is bound to one.
 */
export async function createOrganization(ctx: ActorContext, input: CreateOrganizationInput) {
  if (ctx.actor.token_organization_id !== null)
    throw new ServiceError('forbidden', 'Your token is valid for one organization only.')
  return ctx.db.transaction(async tx => {
    if (!(await isAdminSomewhere(tx, ctx.actor.token_id)))
      throw new ServiceError('forbidden', 'Only an ADMIN of an organization can create another one.')
    const { user_id, token_id } = ctx.actor
    requireRoom(ctx, await countCreatedOrganizations(tx, user_id))
    const { id } = await insertOrganization(tx, input.name, user_id)
    const email = (await getTokenUser(tx, token_id))?.email ?? null
    const membership = await insertMembership(tx, id, user_id, 'ADMIN', email)
    if (membership) await addAcceptance(tx, user_id, { token_id, session_digest: null }, membership.id)
    await audit(
      tx,
      { ...ctx, organization_id: id },
      'organization.created',
      { type: 'organization', id },
      { name: input.name },
    )
    return detail(await requireOrganization({ db: tx, organization_id: id }))
  })
}

/** An ADMIN may create accounts that are ADMIN, each with a limit of its own: so all have one together. */
function requireRoom(
  { organizations_per_user, max_organizations }: ActorContext,
  { of_user, of_all }: { of_user: number; of_all: number },
): void {
  if (of_user >= organizations_per_user)
    throw new ServiceError(
      'forbidden',
      `A user may create ${organizations_per_user} organizations here, and you have created as many. The operator can change this (AGENTRUN_ORGANIZATIONS_PER_USER).`,
    )
  if (of_all >= max_organizations)
    throw new ServiceError(
      'forbidden',
      `All users together may create ${max_organizations} organizations here, and as many exist. The operator can change this (AGENTRUN_MAX_ORGANIZATIONS).`,
    )
}

export const getOrganization = async (ctx: Context) => detail(await requireOrganization(ctx))

export async function getOrganizationSettings(ctx: Context) {
  const row = await requireOrganization(ctx)
  return { ...switchesOf(row), ...settingsOf(row) }
}

/** Throws 400 for a model that is not configured, 404 for a repository that is not in this organization. */
export async function updateOrganization(ctx: Context, input: UpdateOrganizationInput) {
  if (input.default_model != null)
    requireModel(
      await ctx.organizationModels(ctx.db, ctx.organization_id),
      input.default_model,
      'default_model',
    )
  return ctx.db.transaction(async tx => {
    if (
      input.default_repo_id != null &&
      !(await holdRepository(tx, ctx.organization_id, input.default_repo_id))
    )
      throw repositoryNotFound()
    await updateOrganizationRow(tx, ctx.organization_id, {
      ...input.settings,
      name: input.name,
      default_repository_id: input.default_repo_id,
      default_model: input.default_model,
      reasoning_effort: input.reasoning_effort,
      review: input.review,
      agent_permissions: input.agent_permissions,
      branch_prefix: input.branch_prefix,
      approval_paths: input.approval_paths?.length === 0 ? null : input.approval_paths,
      rules: input.rules === '' ? null : input.rules,
      max_concurrent_runs: input.max_concurrent_runs,
      budget_usd_per_month: input.budget_usd_per_month,
      runs_per_month: input.runs_per_month,
    })
    if (input.max_concurrent_runs !== undefined) await notifyWork(tx)
    const { rules, ...rest } = input
    const change = rules === undefined ? rest : { ...rest, rules: 'changed' }
    await audit(tx, ctx, 'organization.updated', { type: 'organization', id: ctx.organization_id }, change)
    return detail(await requireOrganization({ db: tx, organization_id: ctx.organization_id }))
  })
}

/** Does not fail in practice: the caller is a member of it. */
async function requireOrganization({
  db,
  organization_id,
}: Pick<Context, 'organization_id'> & { db: Db }): Promise<OrganizationRow> {
  const row = await getOrganizationRow(db, organization_id)
  if (!row) throw new ServiceError('forbidden', 'You do not have access to this organization.')
  return row
}
