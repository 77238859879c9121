import type { AgentRun } from '../../../sdk/operations.ts'
import {
  type Command,
  type CommandArguments,
  command,
  type Options,
  printResult,
  whole,
} from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { runLine } from '../../format-run.ts'

const MANY = 100

/** A command that changes several runs, one after the other; a refusal ends it. */
function forRuns(
  name: string,
  summary: string,
  change: (given: CommandArguments<Options>, id: number) => Promise<AgentRun>,
): Command {
  return command({
    name,
    summary,
    usage: ['ID…'],
    words: [1, MANY],
    options: {},
    async run(given) {
      for (const id of given.words.map(word => whole('the id of a run', word)))
        printRun(given, await change(given, id))
      return 0
    },
  })
}

const printRun = (given: CommandArguments<Options>, run: AgentRun) =>
  printResult(given, run, () => [runLine(run, given.print)])

export const archive = forRuns('archive', 'leave runs out of lists', ({ client, signal }, id) =>
  client().runs.archive(id, { signal }),
)
export const unarchive = forRuns('unarchive', 'list archived runs again', ({ client, signal }, id) =>
  client().runs.unarchive(id, { signal }),
)

export const rename = command({
  name: 'rename',
  summary: 'change the title of a run, or its tags',
  usage: ['ID [TITLE]'],
  words: [1, 2],
  options: {
    tag: {
      type: 'string',
      multiple: true,
      value: 'TAG',
      about: 'instead of the tags it has; may be repeated',
    },
  },
  async run(given) {
    const { words, values, client, signal } = given
    const id = whole('the id of a run', words[0] ?? '')
    if (words[1] === undefined && values.tag === undefined)
      throw new UsageError('agentrun rename takes a title, or --tag')
    return printRun(given, await client().runs.update(id, { title: words[1], tags: values.tag }, { signal }))
  },
})

export const remove = command({
  name: 'delete',
  summary: 'delete runs that have ended, with their traces',
  usage: ['ID…'],
  words: [1, MANY],
  options: { yes: { type: 'boolean', about: 'required: what is deleted cannot be restored' } },
  async run({ words, values, client, json, print, signal }) {
    const ids = words.map(word => whole('the id of a run', word))
    if (!values.yes) throw new UsageError('agentrun delete cannot be undone: add --yes')
    for (const agent_run_id of ids) {
      const deleted = await client().call('deleteAgentRun', { params: { agent_run_id }, signal })
      printResult({ json, print }, deleted, () => [`deleted: run ${deleted.id}`])
    }
    return 0
  },
})
