import { readFileSync } from 'node:fs'
import type { Result } from '../../../sdk/operations.ts'
import { command, type Given, type Options } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { plainText } from '../../plain-text.ts'
import { columns } from '../../printer.ts'

const actions = ['list', 'show', 'set', 'delete'] as const
const options = {} as const satisfies Options

export const skills = command({
  name: 'skills',
  summary: 'list, show or change the skills of the organization',
  usage: ['[list]', 'show NAME', 'set NAME FILE', 'delete NAME'],
  words: [0, 3],
  choices: actions,
  options,
  notes: ['FILE is a SKILL.md whose front matter has this name and a description; - reads standard input.'],
  async run(given) {
    const [action = 'list', name, file, ...rest] = given.words
    const needed = action === 'set' ? 2 : action === 'list' ? 0 : 1
    if (given.words.length > 0 && (given.words.length - 1 !== needed || rest.length > 0))
      throw new UsageError(
        `agentrun skills ${action} takes ${['nothing else', 'the name of a skill', 'the name of a skill and a file'][needed]}`,
      )
    if (action === 'list' || name === undefined) return list(given)
    const skill = await change(given, action, name, file)
    if (given.json) given.print.json(skill)
    else if (action === 'show') given.print.line(plainText(skill.content).trimEnd())
    else given.print.line(`${action === 'set' ? 'set' : 'deleted'}: ${lineOf(skill)}`)
    return 0
  },
})

async function change({ client, signal }: Given<typeof options>, action: string, skill: string, file = ''): Promise<Result<'getSkill'>> {
  const params = { skill }
  if (action === 'show') return client().call('getSkill', { params, signal })
  if (action === 'delete') return client().call('deleteSkill', { params, repeatable: true, signal })
  const content = readFileSync(file === '-' ? 0 : file, 'utf8')
  return client().call('setSkill', { params, body: { content }, repeatable: true, signal })
}

async function list({ client, json, print, signal }: Given<typeof options>): Promise<number> {
  const page = await client().call('listSkills', { signal })
  if (json) print.json(page)
  else if (page.items.length === 0) print.line('no skills')
  else
    for (const line of columns([['NAME', 'DESCRIPTION'], ...page.items.map(one => [one.name, plainText(one.description)])]))
      print.line(line)
  return 0
}

const lineOf = ({ name, description }: Result<'listSkills'>['items'][number]) => `${name}: ${plainText(description)}`
