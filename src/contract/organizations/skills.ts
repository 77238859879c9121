import { z } from 'zod'
import { limits } from '../limits.ts'
import { pageOf } from '../page.ts'
import { text } from '../text.ts'

const SKILL_NAME = /^[a-z0-9]+(?:-[a-z0-9]+)*$/
const MAX_NAME = 64

/** Returns the schema of the name of a skill in a path, as agentskills.io defines it. */
export const skillName = () =>
  z
    .string()
    .max(MAX_NAME)
    .regex(SKILL_NAME, 'must be 1 to 64 lower-case letters, digits and single hyphens between them')
    .meta({ wire: { type: 'string', pattern: SKILL_NAME.source, maxLength: MAX_NAME } })
    .describe('The name of the skill')

const fields = {
  name: z.string().describe('The name in its front matter'),
  description: z.string().describe('The tasks for which agents use it; they see this text with every task'),
  created_at: z.iso.datetime().describe('Time of its creation'),
  updated_at: z.iso.datetime().describe('Time of the last change'),
  updated_by: z.int().describe('The user who set it last'),
}
const example = {
  name: 'release',
  description: 'Use it to publish a version.',
  updated_by: 1,
  created_at: '2026-11-20T10:30:00.000Z',
  updated_at: '2026-11-20T10:30:00.000Z',
}
const content =
  '---\nname: release\ndescription: Use it to publish a version.\n---\n\n1. Update CHANGELOG.md.\n2. Tag the commit.\n'

/** A skill without its text. */
const SkillSummary = z.object(fields).meta({ id: 'SkillSummary', examples: [example] })
export const SkillPage = pageOf(SkillSummary).meta({ id: 'PageOfSkillSummary' })

export const Skill = z
  .object({ ...fields, content: z.string().describe('The whole SKILL.md') })
  .meta({ id: 'Skill', examples: [{ ...example, content }] })

export const SkillInput = z
  .object({
    content: text(1, limits.skill_chars).describe(
      'A SKILL.md: front matter with `name`, the same as in the path, and `description`, at most 1,024 characters; then the instructions',
    ),
  })
  .meta({ id: 'SkillInput', examples: [{ content }] })
export type SkillInput = z.output<typeof SkillInput>
