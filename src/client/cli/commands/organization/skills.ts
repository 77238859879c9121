import { readFileSync } from 'node:fs'
import type { Result } from '../../../sdk/operations.ts'
import { plainText } from '../../plain-text.ts'
import { list, plainTable, resource, single } from '../../resource.ts'

type Skill = Result<'listSkills'>['items'][number]

const lineOf = ({ name, description }: Skill) => `${name}: ${plainText(description)}`

export const skills = resource({
  name: 'skills',
  summary: 'list, show or change the skills of the organization',
  usage: ['[list]', 'show NAME', 'set NAME FILE', 'delete NAME'],
  words: [0, 3],
  exact: true,
  options: {},
  notes: ['FILE is a SKILL.md whose front matter has this name and a description; - reads standard input.'],
  actions: {
    list: list({
      operation: 'listSkills',
      lines: plainTable('no skills', {
        NAME: one => one.name,
        DESCRIPTION: one => plainText(one.description),
      }),
    }),
    show: single({ operation: 'getSkill', lines: ({ content }) => [plainText(content).trimEnd()] }),
    set: single({
      takes: 'the name of a skill and a file',
      words: [2, 2],
      operation: 'setSkill',
      body: (_given, _name, file = '') => ({ content: readFileSync(file === '-' ? 0 : file, 'utf8') }),
      lines: skill => [`set: ${lineOf(skill)}`],
    }),
    delete: single({
      operation: 'deleteSkill',
      repeatable: true,
      lines: skill => [`deleted: ${lineOf(skill)}`],
    }),
  },
})
