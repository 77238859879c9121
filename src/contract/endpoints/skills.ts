import { z } from 'zod'
import { type Endpoint, org, v1 } from '../endpoint.ts'
import { Skill, SkillInput, SkillPage, skillName } from '../organizations/skills.ts'
import { namedPageQuery } from '../page.ts'

const base = { ...v1, tag: 'skills', bucket: 'standard' } as const
const one = {
  path: '/v1/organizations/{org_id}/skills/{skill}',
  params: org.extend({ skill: skillName() }),
} as const

/** Skills of an organization, which the agents of all its runs can read (specification.md#access). */
export const skillEndpoints = {
  listSkills: {
    ...base,
    method: 'GET',
    path: '/v1/organizations/{org_id}/skills',
    summary: 'List the skills of the organization',
    scope: 'org:read',
    params: org,
    query: z.object(namedPageQuery),
    ordered_by: 'name',
    response: SkillPage,
  },
  getSkill: {
    ...base,
    ...one,
    method: 'GET',
    summary: 'Get a skill of the organization with its text',
    scope: 'org:read',
    problems: ['not_found'],
    response: Skill,
  },
  setSkill: {
    ...base,
    ...one,
    method: 'PUT',
    summary: 'Set a skill of the organization',
    description:
      'The body is a SKILL.md as in a repository. Agents of all runs see its name and description from the next turn on, and read the text when the description fits the task. A skill of the repository with the same name replaces it. At most 50 skills: one more is 409.',
    scope: 'org:admin',
    problems: ['conflict'],
    body: SkillInput,
    response: Skill,
  },
  deleteSkill: {
    ...base,
    ...one,
    method: 'DELETE',
    summary: 'Delete a skill of the organization',
    scope: 'org:admin',
    problems: ['not_found'],
    response: Skill,
  },
} as const satisfies Record<string, Endpoint>
