import type { AgentPermissions } from '../../contract/organizations/agent-permissions.ts'
import type { ReasoningEffort } from '../../contract/reasoning-efforts.ts'
import type { ReviewMode } from '../../contract/review-modes.ts'
import type { Window } from '../../core/paging.ts'
import { changedOne, type Db, firstRow, only, onlyRow } from '../database.ts'
import { listPage } from '../list-page.ts'
import { updateRow } from '../statement.ts'
import { reaches_membership } from './logins.ts'

export type OrganizationRow = {
  id: number
  name: string
  enable_pr_creation: boolean
  enable_rules_detection: boolean
  default_repository_id: number | null
  default_model: string | null
  reasoning_effort: ReasoningEffort | null
  review: ReviewMode | null
  agent_permissions: AgentPermissions | null
  branch_prefix: string | null
  /** Globs of files whose change needs an approval. */
  approval_paths: string[] | null
  rules: string | null
  max_concurrent_runs: number | null
  budget_usd_per_month: string | null
  runs_per_month: number | null
}
const columns = `o.id, o.name, o.enable_pr_creation, o.enable_rules_detection, o.default_repository_id, o.default_model, o.reasoning_effort, o.review,
  o.agent_permissions, o.branch_prefix, o.approval_paths, o.rules, o.max_concurrent_runs, o.budget_usd_per_month, o.runs_per_month`

/** Returns an organization; undefined when it does not exist. The caller has checked the membership. */
export function getOrganization(db: Db, organization_id: number): Promise<OrganizationRow | undefined> {
  return firstRow<OrganizationRow>(db, {
    name: 'get_organization',
    text: `select ${columns} from organizations o where o.id = $1`,
    values: [organization_id],
  })
}

/** Returns the organizations that a token reaches, oldest first. */
export async function listOrganizations(
  db: Db,
  token_id: number,
  window: Window,
): Promise<{ rows: OrganizationRow[]; total: number }> {
  const from = `tokens t join memberships m on m.user_id = t.user_id and ${reaches_membership} join organizations o on o.id = m.organization_id`
  return listPage(
    db,
    { name: 'list_organizations', columns, from, where: 't.id = $1', key: 'o.id', order: 'asc' },
    [token_id],
    window,
  )
}

/**
 * Returns the oldest organization with its oldest ADMIN: normally what the first start created. Service users
 * are ignored: they cannot sign in.
 */
export function firstOrganization(
  db: Db,
  only_id: number | null = null,
): Promise<{ organization_id: number; user_id: number } | undefined> {
  return firstRow<{ organization_id: number; user_id: number }>(db, {
    name: 'first_organization',
    text: `select m.organization_id, m.user_id
      from memberships m
      join users u on u.id = m.user_id
      where m.role = 'ADMIN' and u.kind = 'person' and ($1::bigint is null or m.organization_id = $1)
      order by m.organization_id, m.user_id
      limit 1`,
    values: [only_id],
  })
}

/** Inserts an organization without members and returns its id. */
export function insertOrganization(
  db: Db,
  name: string,
  created_by_user_id: number | null = null,
): Promise<{ id: number }> {
  return onlyRow<{ id: number }>(db, {
    name: 'insert_organization',
    text: `insert into organizations (name, created_by_user_id)
      values ($1, $2)
      returning id`,
    values: [name, created_by_user_id],
  })
}

/**
 * Returns how many organizations the user has created with the API, and how many all users have. Until the
 * transaction ends, no other one counts.
 */
export async function countCreatedOrganizations(
  tx: Db,
  user_id: number,
): Promise<{ of_user: number; of_all: number }> {
  await tx.query({ name: 'lock_created_organizations', text: 'select pg_advisory_xact_lock(4600003)' })
  const { rows } = await tx.query<{ of_user: number; of_all: number }>({
    name: 'count_created_organizations',
    text: `select count(*) filter (where created_by_user_id = $1)::int as of_user, count(*)::int as of_all
      from organizations
      where created_by_user_id is not null`,
    values: [user_id],
  })
  return only(rows)
}

/** Sets the repository of runs that name none; does nothing for a repository of another organization. */
export async function setDefaultRepository(
  db: Db,
  organization_id: number,
  repository_id: number,
): Promise<void> {
  await db.query({
    name: 'set_default_repository',
    text: `update organizations
      set default_repository_id = $2
      where id = $1 and exists (select 1 from repositories where id = $2 and organization_id = $1)`,
    values: [organization_id, repository_id],
  })
}

type OrganizationChange = Partial<Omit<OrganizationRow, 'id'>>

/**
 * Changes name and settings; an absent field stays unchanged, null clears it. Returns false when the
 * organization does not exist.
 */
export function updateOrganization(
  db: Db,
  organization_id: number,
  change: OrganizationChange,
): Promise<boolean> {
  return changedOne(
    db,
    updateRow('organizations', {
      where: { id: organization_id },
      change: {
        name: change.name,
        enable_pr_creation: change.enable_pr_creation,
        enable_rules_detection: change.enable_rules_detection,
        default_repository_id: change.default_repository_id,
        default_model: change.default_model,
        rules: change.rules,
        max_concurrent_runs: change.max_concurrent_runs,
        budget_usd_per_month: change.budget_usd_per_month,
        runs_per_month: change.runs_per_month,
        reasoning_effort: change.reasoning_effort,
        review: change.review,
        agent_permissions: change.agent_permissions,
        branch_prefix: change.branch_prefix,
        approval_paths: change.approval_paths,
      },
    }),
  )
}

/** Clears the default repository of an organization if it is this one. */
export async function forgetDefaultRepository(
  db: Db,
  organization_id: number,
  repository_id: number,
): Promise<void> {
  await db.query({
    name: 'forget_default_repository',
    text: `update organizations
      set default_repository_id = null
      where id = $1 and default_repository_id = $2`,
    values: [organization_id, repository_id],
  })
}
