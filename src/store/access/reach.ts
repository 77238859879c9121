import type { ReachedKind } from '../../core/access/reach.ts'
import type { Db } from '../database.ts'

const statements: Partial<Record<ReachedKind, string>> = {
  run: 'select repository_id from runs where organization_id = $1 and id = $2',
  pull_request: 'select repository_id from pull_requests where organization_id = $1 and id = $2',
  artifact: `select r.repository_id
    from artifacts a
    join runs r on r.organization_id = a.organization_id and r.id = a.run_id
    where a.organization_id = $1 and a.id = $2`,
  sandbox: `select r.repository_id
    from sandboxes s
    join runs r on r.organization_id = s.organization_id and r.id = s.run_id
    where s.organization_id = $1 and s.id = $2`,
}

/**
 * Returns the repository that a resource belongs to: null for one without, undefined when the resource does
 * not exist.
 */
export async function repositoryOf(
  db: Db,
  organization_id: number,
  kind: ReachedKind,
  id: number,
): Promise<number | null | undefined> {
  const text = statements[kind]
  if (text === undefined) return id
  const { rows } = await db.query<{ repository_id: number | null }>({
    name: `repository_of_${kind}`,
    text,
    values: [organization_id, id],
  })
  return rows[0]?.repository_id
}
