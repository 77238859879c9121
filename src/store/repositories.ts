import { type Db, only } from './database.ts'

export type RepositoryKind = 'https' | 'http' | 'ssh' | 'local'
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
  default_branch: string | null
  sample: boolean
  archived: boolean
  setup_status: string
}

export async function getRepository(db: Db, organization_id: number, id: number): Promise<RepositoryRow | undefined> {
  const { rows } = await db.query<RepositoryRow>({
    name: 'get_repository',
    text: 'select * from repositories where organization_id = $1 and id = $2',
    values: [organization_id, id],
  })
  return rows[0]
}

/** Oldest first. `own`: only these. */
export async function listRepositories(
  db: Db,
  organization_id: number,
  skip: number,
  limit: number,
  own: readonly number[] | null = null,
): Promise<{ rows: RepositoryRow[]; total: number }> {
  const page = await db.query<RepositoryRow>({
    name: 'list_repositories',
    text: 'select * from repositories where organization_id = $1 and ($4::bigint[] is null or id = any($4)) order by id limit $2 offset $3',
    values: [organization_id, limit, skip, own],
  })
  const count = await db.query<{ total: number }>({
    name: 'count_repositories',
    text: 'select count(*) as total from repositories where organization_id = $1 and ($2::bigint[] is null or id = any($2))',
    values: [organization_id, own],
  })
  return { rows: page.rows, total: only(count.rows).total }
}

/** Registers a repository. One that the organization has already stays as it is: `created` tells. */
export async function insertRepository(
  db: Db,
  repository: {
    organization_id: number
    name: string
    full_name: string
    url: string
    kind: RepositoryKind
    description: string | null
    sample: boolean
  },
): Promise<{ id: number; created: boolean }> {
  const { rows } = await db.query<{ id: number; created: boolean }>({
    name: 'insert_repository',
    text: `insert into repositories (organization_id, name, full_name, url, kind, description, sample) values ($1, $2, $3, $4, $5, $6, $7)
      on conflict (organization_id, url) do update set url = excluded.url returning id, xmax = 0 as created`,
    values: [
      repository.organization_id,
      repository.name,
      repository.full_name,
      repository.url,
      repository.kind,
      repository.description,
      repository.sample,
    ],
  })
  return only(rows)
}

export async function setDefaultBranch(db: Db, organization_id: number, id: number, default_branch: string): Promise<void> {
  await db.query({
    name: 'set_default_branch',
    text: 'update repositories set default_branch = $3 where organization_id = $1 and id = $2 and default_branch is distinct from $3',
    values: [organization_id, id, default_branch],
  })
}

/** Those of the given ids that are repositories of the organization. */
export async function ownRepositoryIds(db: Db, organization_id: number, ids: readonly number[]): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>({
    name: 'own_repository_ids',
    text: 'select id from repositories where organization_id = $1 and id = any($2::bigint[]) order by id',
    values: [organization_id, ids],
  })
  return rows.map(row => row.id)
}
