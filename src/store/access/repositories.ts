import type { ReasoningEffort } from '../../contract/reasoning-efforts.ts'
import type { ReviewMode } from '../../contract/review-modes.ts'
import type { Window } from '../../core/paging.ts'
import type { RepositoryKind } from '../../core/repositories/repository-kind.ts'
import { changedOne, type Db, firstRow, onlyRow } from '../database.ts'
import { listPage } from '../list-page.ts'
import { insertRow, replacing, updateRow } from '../statement.ts'

export type RepositoryRow = {
  id: number
  organization_id: number
  name: string
  full_name: string
  url: string
  kind: RepositoryKind
  description: string | null
  language: string | null
  visibility: string | null
  /** The default branch of the remote, once it was read. */
  default_branch: string | null
  /** The branch from which runs start instead, set by a person. */
  base_branch: string | null
  /** Null: as the organization's. */
  reasoning_effort: ReasoningEffort | null
  review: ReviewMode | null
  /** What the names of its runs' branches begin with; null: as the organization's. */
  branch_prefix: string | null
  /** Whether runs use the MCP servers that its `.mcp.json` names. */
  use_mcp_file: boolean
  sample: boolean
  archived: boolean
  setup_status: string
  /** Time up to which its forge was polled for mentions; null: never. */
  forge_seen_until: Date | null
  /** Mentions before this time are ignored. */
  mentions_since: Date
}

/** Returns a repository. A removed one remains visible only to its former runs, not here. */
export function getRepository(
  db: Db,
  organization_id: number,
  id: number,
): Promise<RepositoryRow | undefined> {
  return firstRow<RepositoryRow>(db, {
    name: 'get_repository',
    text: `select *
      from repositories
      where organization_id = $1 and id = $2 and removed_at is null`,
    values: [organization_id, id],
  })
}

type RepositoryFilter = {
  /** Only these repositories; null: all. */
  own?: readonly number[] | null
  archived?: boolean
}

/** Returns one page, oldest first. */
export async function listRepositories(
  db: Db,
  organization_id: number,
  window: Window,
  filter: RepositoryFilter = {},
): Promise<{ rows: RepositoryRow[]; total: number }> {
  const where = `organization_id = $1 and removed_at is null and ($2::bigint[] is null or id = any($2)) and ($3::boolean is null or archived = $3)`
  const list = {
    name: 'list_repositories',
    columns: '*',
    from: 'repositories',
    where,
    key: 'id',
    order: 'asc',
  } as const
  return listPage(db, list, [organization_id, filter.own ?? null, filter.archived ?? null], window)
}

/** Registers a repository. An already registered one stays unchanged: see `created`. */
export function insertRepository(
  db: Db,
  repository: {
    organization_id: number
    name: string
    full_name: string
    url: string
    kind: RepositoryKind
    description: string | null
    base_branch?: string | null
    sample: boolean
  },
): Promise<{ id: number; created: boolean }> {
  return onlyRow<{ id: number; created: boolean }>(
    db,
    insertRow(
      'repositories',
      {
        organization_id: repository.organization_id,
        name: repository.name,
        full_name: repository.full_name,
        url: repository.url,
        kind: repository.kind,
        description: repository.description,
        sample: repository.sample,
        base_branch: repository.base_branch ?? null,
      },
      {
        end: `on conflict (organization_id, url)
          where removed_at is null
          do update set ${replacing('url')}
          returning id, xmax = 0 as created`,
      },
    ),
  )
}

/** Sets the default branch of a repository. An unchanged branch writes no row. */
export async function setDefaultBranch(
  db: Db,
  organization_id: number,
  id: number,
  default_branch: string,
): Promise<void> {
  await db.query({
    name: 'set_default_branch',
    text: `update repositories
      set default_branch = $3
      where organization_id = $1 and id = $2 and default_branch is distinct from $3`,
    values: [organization_id, id, default_branch],
  })
}

/** Sets whether a repository has been set up, as lists of repositories show it. */
export async function setSetupStatus(
  db: Db,
  organization_id: number,
  id: number,
  status: 'SETUP' | 'NOT_SETUP',
): Promise<void> {
  await db.query({
    name: 'set_setup_status',
    text: 'update repositories set setup_status = $3 where organization_id = $1 and id = $2',
    values: [organization_id, id, status],
  })
}

/** Returns which of the given ids are repositories of the organization. */
export async function ownRepositoryIds(
  db: Db,
  organization_id: number,
  ids: readonly number[],
): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>({
    name: 'own_repository_ids',
    text: `select id
      from repositories
      where organization_id = $1 and id = any($2::bigint[]) and removed_at is null
      order by id`,
    values: [organization_id, ids],
  })
  return rows.map(row => row.id)
}

/** Prevents the removal of a repository until the transaction ends. Returns false when it does not exist. */
export async function holdRepository(db: Db, organization_id: number, id: number): Promise<boolean> {
  const { rows } = await db.query({
    name: 'hold_repository',
    text: `select 1
      from repositories
      where organization_id = $1 and id = $2 and removed_at is null
      for key share`,
    values: [organization_id, id],
  })
  return rows.length > 0
}

/**
 * Locks a repository against removal and new runs until the transaction ends, so that counts stay correct.
 */
export function lockRepository(
  db: Db,
  organization_id: number,
  id: number,
): Promise<RepositoryRow | undefined> {
  return firstRow<RepositoryRow>(db, {
    name: 'lock_repository',
    text: `select *
      from repositories
      where organization_id = $1 and id = $2 and removed_at is null
      for update`,
    values: [organization_id, id],
  })
}

type RepositoryChange = Partial<
  Pick<
    RepositoryRow,
    | 'name'
    | 'description'
    | 'base_branch'
    | 'branch_prefix'
    | 'archived'
    | 'visibility'
    | 'language'
    | 'reasoning_effort'
    | 'review'
    | 'use_mcp_file'
  >
>

/** Changes a repository. An absent field stays unchanged, null clears it. */
export function updateRepository(
  db: Db,
  organization_id: number,
  id: number,
  change: RepositoryChange,
): Promise<boolean> {
  return changedOne(
    db,
    updateRow('repositories', {
      where: { organization_id, id },
      and: 'removed_at is null',
      change: {
        name: change.name,
        description: change.description,
        base_branch: change.base_branch,
        branch_prefix: change.branch_prefix,
        archived: change.archived,
        visibility: change.visibility,
        language: change.language,
        reasoning_effort: change.reasoning_effort,
        review: change.review,
        use_mcp_file: change.use_mcp_file,
      },
    }),
  )
}

/** Removes a repository from every list, permanently; the row stays for its runs. */
export function removeRepository(db: Db, organization_id: number, id: number): Promise<boolean> {
  return changedOne(db, {
    name: 'remove_repository',
    text: `update repositories
      set removed_at = now()
      where organization_id = $1 and id = $2 and removed_at is null`,
    values: [organization_id, id],
  })
}

/** Returns which of these repositories were removed more than this number of hours ago. */
export async function removedRepositories(db: Db, ids: readonly number[], hours: number): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>({
    name: 'removed_repositories',
    text: `select id
      from repositories
      where id = any($1::bigint[]) and removed_at < now() - make_interval(hours => $2)
      order by id`,
    values: [ids, hours],
  })
  return rows.map(row => row.id)
}
