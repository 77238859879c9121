import type { Window } from '../../core/paging.ts'
import { type Db, firstRow } from '../database.ts'
import { listPage } from '../list-page.ts'

export type SkillRow = {
  name: string
  description: string
  created_at: Date
  updated_at: Date
  updated_by: number
}
const columns = 'name, description, created_at, updated_at, updated_by'

/** Returns one page by name, without the texts. */
export async function listSkills(
  db: Db,
  organization_id: number,
  window: Window,
): Promise<{ rows: SkillRow[]; total: number }> {
  const list = {
    columns,
    from: 'skills',
    where: 'organization_id = $1',
    key: 'name collate "C"',
    type: 'text',
    order: 'asc',
  } as const
  return listPage(db, { name: 'list_skills', ...list }, [organization_id], window)
}

/** Returns a skill with its text; undefined when it does not exist. */
export function getSkill(
  db: Db,
  organization_id: number,
  name: string,
): Promise<(SkillRow & { content: string }) | undefined> {
  return firstRow<SkillRow & { content: string }>(db, {
    name: 'get_skill',
    text: `select ${columns}, content from skills where organization_id = $1 and name = $2`,
    values: [organization_id, name],
  })
}

/** Locks the skills of the organization until the transaction ends, so that they can be counted. */
export async function lockSkills(db: Db, organization_id: number): Promise<void> {
  await db.query({
    name: 'lock_skills',
    text: 'select 1 from organizations where id = $1 for no key update',
    values: [organization_id],
  })
}

type NewSkill = {
  organization_id: number
  name: string
  description: string
  content: string
  user_id: number
}

/**
 * Creates or replaces a skill; creates one only while there are fewer than `max`. Returns undefined when
 * there are too many.
 */
export function saveSkill(db: Db, skill: NewSkill, max: number): Promise<SkillRow | undefined> {
  return firstRow<SkillRow>(db, {
    name: 'save_skill',
    text: `insert into skills (organization_id, name, description, content, updated_by)
      select $1, $2, $3, $4, $5
      where exists (select 1 from skills where organization_id = $1 and name = $2)
        or (select count(*) from skills where organization_id = $1) < $6
      on conflict (organization_id, name)
        do update set description = excluded.description, content = excluded.content,
          updated_by = excluded.updated_by, updated_at = now()
      returning ${columns}`,
    values: [skill.organization_id, skill.name, skill.description, skill.content, skill.user_id, max],
  })
}

/** Deletes a skill and returns it; undefined when it does not exist. */
export function deleteSkill(
  db: Db,
  organization_id: number,
  name: string,
): Promise<(SkillRow & { content: string }) | undefined> {
  return firstRow<SkillRow & { content: string }>(db, {
    name: 'delete_skill',
    text: `delete from skills
      where organization_id = $1 and name = $2
      returning ${columns}, content`,
    values: [organization_id, name],
  })
}
