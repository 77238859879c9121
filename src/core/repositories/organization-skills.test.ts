import { expect, test } from 'vitest'
import { organizationSkill, SKILLS_FOLDER, skillPath } from './organization-skills.ts'
import { fitInstructions, instructionsSection, NO_INSTRUCTIONS } from './repository-instructions.ts'
import { uniqueSkills } from './skill-files.ts'

const of_repository = {
  path: '.agents/skills/release/SKILL.md',
  name: 'release',
  description: 'Of the repository.',
  note: null,
}
const skills = [
  organizationSkill({ name: 'audit', description: 'Audits.' }),
  organizationSkill({ name: 'release', description: 'Tags.' }),
]
const sectionOf = (listed: typeof skills) =>
  instructionsSection(fitInstructions({ ...NO_INSTRUCTIONS, skills: listed })) ?? ''

test('only paths below their folder are skills of the organization', () => {
  expect(skillPath(SKILLS_FOLDER)).toEqual({ name: null })
  expect(skillPath(`${SKILLS_FOLDER}/audit/SKILL.md`)).toEqual({ name: 'audit' })
  expect(skillPath(`${SKILLS_FOLDER}/audit/other.md`)).toEqual({ name: null })
  for (const path of ['README.md', 'organization/skills/audit/SKILL.md', `${SKILLS_FOLDER}-2/a/SKILL.md`])
    expect(skillPath(path)).toBeNull()
})

test('a skill of the repository replaces one of the organization with the same name, and people are informed', () => {
  expect(uniqueSkills([of_repository, ...skills])).toEqual({
    skills: [of_repository, skills[0]],
    notes: [
      '/organization/skills/release/SKILL.md has the name of .agents/skills/release/SKILL.md, so it is not listed.',
    ],
  })
})

test('skills of the organization are listed between the marks, and the agent learns where it can read them', () => {
  expect(sectionOf(skills)).toContain(
    '<repository_instructions list="skills">\n- audit (/organization/skills/audit/SKILL.md): Audits.\n- release (/organization/skills/release/SKILL.md): Tags.\n</repository_instructions>',
  )
  expect(sectionOf(skills)).toContain('only the tool read has them')
  expect(sectionOf([of_repository])).not.toContain('only the tool read has them')
})

test('50 long skills of the organization beside 50 of a repository stay within the limits', () => {
  const many = (from: string) =>
    Array.from({ length: 50 }, (_, n) => ({
      name: `${from}-${n}-${'n'.repeat(50)}`,
      description: 'd'.repeat(1_024),
    }))
  const section = sectionOf([
    ...many('r').map(one => ({ ...one, path: `.agents/skills/${one.name}/SKILL.md`, note: null })),
    ...many('o').map(organizationSkill),
  ])
  expect(section.length).toBeLessThanOrEqual(7_000)
  expect(section).toMatch(/\d+ more skills are not listed/)
  expect(section).toContain('Read /organization/skills to list all of them')
})
