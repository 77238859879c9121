import { invalid } from '../service-error.ts'
import { readFrontMatter } from './front-matter.ts'
import { DESCRIPTION_CHARS, type Skill } from './skill-files.ts'

/**
 * The folder in which agents see the skills of the organization. Only the tool `read` has it: no sandbox
 * contains it.
 */
export const SKILLS_FOLDER = '/organization/skills'

/**
 * The skills as agents get them. `list`: all by name; `read`: the whole SKILL.md, null when there is none of
 * that name.
 */
export type OrganizationSkills = {
  list(): Promise<{ name: string; description: string }[]>
  read(name: string): Promise<string | null>
}

const pathOf = (name: string) => `${SKILLS_FOLDER}/${name}/SKILL.md`

/** Returns a skill of the organization as it is listed beside those of the repository. */
export const organizationSkill = ({ name, description }: { name: string; description: string }): Skill => ({
  path: pathOf(name),
  name,
  description,
  note: null,
})

/**
 * Returns the name of the skill that a path leads to; `name` null: it is their folder, or no skill in it.
 * Null: the path is outside of the folder.
 */
export function skillPath(path: string): { name: string | null } | null {
  if (path !== SKILLS_FOLDER && !path.startsWith(`${SKILLS_FOLDER}/`)) return null
  return { name: /^\/([^/]+)\/SKILL\.md$/.exec(path.slice(SKILLS_FOLDER.length))?.[1] ?? null }
}

/** Returns the description in the front matter of a SKILL.md. Throws 400, which names what is missing. */
export function skillDescription(name: string, content: string): string {
  const { fields, body } = readFrontMatter(content)
  const refuse = (what: string) => invalid(['body', 'content'], what)
  if (fields === null)
    throw refuse(
      `is a SKILL.md without front matter: begin it with four lines, "---", "name: ${name}", "description: …" and "---"`,
    )
  if (fields.name === undefined) throw refuse(`has no name in its front matter: add "name: ${name}"`)
  if (fields.name !== name)
    throw refuse(
      `has the name ${JSON.stringify(fields.name.slice(0, 100))} in its front matter, and ${name} in the path`,
    )
  const description = (fields.description ?? '').replace(/[\s\p{Cc}]+/gu, ' ').trim()
  if (description === '')
    throw refuse('has no description in its front matter: agents need it to know when to use the skill')
  if (description.length > DESCRIPTION_CHARS)
    throw refuse(
      `has a description of ${description.length} characters in its front matter, and ${DESCRIPTION_CHARS} are allowed`,
    )
  if (fields['disable-model-invocation'] === 'true')
    throw refuse(
      'has disable-model-invocation: true in its front matter, and only agents use the skills of an organization',
    )
  if (body.trim() === '') throw refuse('has no text after its front matter')
  return description
}
