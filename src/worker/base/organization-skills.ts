import { limits } from '../../contract/limits.ts'
import { type OrganizationSkills, organizationSkill } from '../../core/repositories/organization-skills.ts'
import type { Skill } from '../../core/repositories/skill-files.ts'
import { getSkill, listSkills } from '../../store/access/skills.ts'
import type { Db } from '../../store/database.ts'

const ALL = { skip: 0, limit: limits.skills }

/** Returns the skills of an organization as they are listed beside those of a repository, by name. */
export const listedSkills = async (db: Db, organization_id: number): Promise<Skill[]> =>
  (await listSkills(db, organization_id, ALL)).rows.map(organizationSkill)

/**
 * Returns the skills of an organization for its agents: each read has the text of its time, which the journal
 * keeps.
 */
export const organizationSkills = (db: Db, organization_id: number): OrganizationSkills => ({
  list: async () => (await listSkills(db, organization_id, ALL)).rows,
  read: async name => (await getSkill(db, organization_id, name))?.content ?? null,
})
