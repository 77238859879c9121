import { readFileSync } from 'node:fs'
import type { Result } from '../../../sdk/operations.ts'
import { type CommandArguments, command, type Options, printResult, whole } from '../../command.ts'
import { CliError, UsageError } from '../../exit.ts'
import { firstLine, plainText } from '../../plain-text.ts'
import { promptText } from '../../prompt-text.ts'
import { commentLines, commitLines, pullRequestLines } from '../../pull-request-lines.ts'
import { list, pageOptions, single, table } from '../../resource.ts'

const states = { draft: 'draft', ready: 'ready_for_review', close: 'closed', reopen: 'open' } as const
const actions = [
  'list',
  'show',
  'commits',
  'diff',
  'comments',
  'comment',
  'edit',
  'draft',
  'ready',
  'close',
  'reopen',
  'merge',
] as const
const options = {
  state: {
    type: 'string',
    value: 'STATE',
    choices: ['open', 'draft', 'closed', 'merged'],
    actions: ['list'],
    about: 'only these',
  },
  run: { type: 'string', value: 'ID', actions: ['list'], about: 'only of this run' },
  ...pageOptions(['list', 'commits', 'comments']),
  title: { type: 'string', value: 'TEXT', actions: ['edit'], about: 'the new title' },
  'body-file': {
    type: 'string',
    value: 'FILE',
    actions: ['edit'],
    about: 'the new text; - reads standard input',
  },
  base: { type: 'string', value: 'BRANCH', actions: ['edit'], about: 'the new base branch' },
  path: { type: 'string', value: 'FILE', actions: ['comment'], about: 'on this file' },
  line: { type: 'string', value: 'N', actions: ['comment'], about: 'on this line of it' },
  squash: { type: 'boolean', actions: ['merge'], about: 'as one commit' },
  head: {
    type: 'string',
    value: 'SHA',
    actions: ['merge'],
    about: 'only if this is the head commit; by default the last one known to the service',
  },
} as const satisfies Options

type PrArguments = CommandArguments<typeof options>

export const pr = command({
  name: 'pr',
  summary: 'list pull requests, show one, comment on it, change it or merge it',
  usage: [
    '[list]',
    'show ID',
    'commits ID',
    'diff ID',
    'comments ID',
    'comment ID TEXT|-',
    'edit ID',
    'draft ID',
    'ready ID',
    'close ID',
    'reopen ID',
    'merge ID',
  ],
  words: [0, 3],
  choices: actions,
  options,
  notes: [
    'ID is the id of a pull request, which agentrun pr list shows first, not its number in the repository.',
  ],
  async run(given) {
    const [action = 'list', which, text] = given.words
    if (action === 'list') return pullRequests.run(given)
    if (which === undefined)
      throw new UsageError(
        `agentrun pr ${action} takes the id of a pull request; agentrun pr list shows them`,
      )
    if ((text !== undefined) !== (action === 'comment'))
      throw new UsageError(
        action === 'comment'
          ? 'agentrun pr comment takes a text'
          : `agentrun pr ${action} takes nothing else`,
      )
    const pr_id = whole('the id of a pull request', which)
    if (action === 'diff') return diff(given, pr_id)
    if (action === 'commits') return commits.run(given, which)
    if (action === 'comments') return comments.run(given, which)
    if (action === 'comment') return comment(given, pr_id, text)
    if (action === 'merge') {
      const method = given.values.squash ? 'squash' : 'merge'
      const body = { method, expected_head_sha: given.values.head } as const
      await given
        .client()
        .call('mergePullRequest', { params: { pr_id }, body, repeatable: true, signal: given.signal })
    } else if (action !== 'show') await edit(given, pr_id, action)
    return show.run(given, which)
  },
})

const pullRequests = list({
  operation: 'listPullRequests',
  query: ({ values }: PrArguments) => ({
    state: values.state as Result<'getPullRequest'>['state'] | undefined,
    agent_run_id: whole('--run', values.run),
  }),
  noun: 'pull requests',
  empty: 'no pull requests',
  lines: table({
    ID: one => String(one.id),
    NUMBER: one => `#${one.number}`,
    REPO: one => String(one.repo_id),
    STATE: one => one.state,
    BRANCH: one => firstLine(one.head_branch, 60),
    TITLE: one => firstLine(one.title, 100),
  }),
})

const commits = list({
  operation: 'listPullRequestCommits',
  noun: 'commits',
  lines: items => items.flatMap(commitLines),
})

const comments = list({
  operation: 'listPullRequestComments',
  noun: 'comments',
  lines: items => items.flatMap(commentLines),
})

const show = single({ operation: 'getPullRequest', lines: pullRequestLines })

async function diff({ client, json, print, signal }: PrArguments, pr_id: number): Promise<number> {
  const found = await client().call('getPullRequestDiff', { params: { pr_id }, signal })
  if (json) print.json(found)
  // As git wrote it, so that it can be applied; without control sequences on a terminal.
  else print.line((print.width === null ? found.patch : plainText(found.patch)).replace(/\n$/, ''))
  if (found.patch_truncated) print.note('the diff is too large to be shown completely; see its branch')
  return 0
}

async function comment(given: PrArguments, pr_id: number, word: string | undefined): Promise<number> {
  const { client, values, json, print, signal } = given
  const body = { body: await promptText(given, word), path: values.path, line: whole('--line', values.line) }
  const created = await client().call('createPullRequestComment', { params: { pr_id }, body, signal })
  return printResult({ json, print }, created, () => commentLines(created))
}

async function edit({ client, values, signal }: PrArguments, pr_id: number, action: string): Promise<void> {
  const file = values['body-file']
  const text = file === undefined ? undefined : readFileSync(file === '-' ? 0 : file, 'utf8')
  const words = { title: values.title, body: text, base_branch: values.base }
  if (action === 'edit' && Object.values(words).every(value => value === undefined))
    throw new UsageError('agentrun pr edit takes --title, --body-file or --base')
  const body = action === 'edit' ? words : { state: states[action as keyof typeof states] }
  const response = await client().call('editPullRequest', {
    params: { pr_id },
    body,
    repeatable: true,
    signal,
  })
  if (!response.success) throw new CliError(response.error ?? 'the pull request was not changed')
}
