import { limits } from '../../contract/limits.ts'
import type { SkillInput } from '../../contract/organizations/skills.ts'
import { type PageRequest, pageNumbers, pageWindow } from '../../core/paging.ts'
import { skillDescription } from '../../core/repositories/organization-skills.ts'
import { ServiceError } from '../../core/service-error.ts'
import {
  deleteSkill as deleteSkillRow,
  getSkill as getSkillRow,
  listSkills as listSkillRows,
  lockSkills,
  type SkillRow,
  saveSkill,
} from '../../store/access/skills.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'

const skillSummary = (row: SkillRow) => ({
  name: row.name,
  description: row.description,
  created_at: row.created_at.toISOString(),
  updated_at: row.updated_at.toISOString(),
  updated_by: row.updated_by,
})

const notFound = () => new ServiceError('not_found', 'Skill not found.')

/** Returns one page of skills by name, without their texts. */
export async function listSkills(ctx: Context, query: PageRequest) {
  const window = pageWindow(query)
  const { rows, total } = await listSkillRows(ctx.db, ctx.organization_id, window)
  return { items: rows.map(skillSummary), total, ...pageNumbers(total, window) }
}

/** Returns a skill with its text. Throws 404 when it does not exist. */
export async function getSkill(ctx: Context, name: string) {
  const row = await getSkillRow(ctx.db, ctx.organization_id, name)
  if (!row) throw notFound()
  return { ...skillSummary(row), content: row.content }
}

/**
 * Creates or replaces a skill. Throws 400 when the text is not a SKILL.md of that name, 409 when there would
 * be too many.
 */
export async function setSkill(ctx: Context, name: string, { content }: SkillInput) {
  const description = skillDescription(name, content)
  return ctx.db.transaction(async tx => {
    await lockSkills(tx, ctx.organization_id)
    const skill = {
      organization_id: ctx.organization_id,
      name,
      description,
      content,
      user_id: ctx.actor.user_id,
    }
    const row = await saveSkill(tx, skill, limits.skills)
    if (!row)
      throw new ServiceError('conflict', `There are already ${limits.skills} skills: delete one first.`)
    await audit(
      tx,
      ctx,
      'skill.set',
      { type: 'skill', id: name },
      { description, characters: content.length },
    )
    return { ...skillSummary(row), content }
  })
}

/** Returns the deleted skill. Throws 404 when it does not exist. */
export async function deleteSkill(ctx: Context, name: string) {
  return ctx.db.transaction(async tx => {
    const row = await deleteSkillRow(tx, ctx.organization_id, name)
    if (!row) throw notFound()
    await audit(tx, ctx, 'skill.deleted', { type: 'skill', id: name })
    return { ...skillSummary(row), content: row.content }
  })
}
