import { readFileSync } from 'node:fs'
import type { Answer } from '../../../sdk/operations.ts'
import { command, type Given, type Options, whole } from '../../command.ts'
import { CliError, UsageError } from '../../exit.ts'
import { plainText } from '../../plain-text.ts'
import { columns } from '../../printer.ts'
import { promptText } from '../../prompt-text.ts'
import { commentLines, commitLines, pullRequestLines, pullRequestRow } from '../../pull-request-lines.ts'

const states = { draft: 'draft', ready: 'ready_for_review', close: 'closed', reopen: 'open' } as const
const acts = ['list', 'show', 'commits', 'diff', 'comments', 'comment', 'edit', 'draft', 'ready', 'close', 'reopen', 'merge'] as const
const options = {
  state: { type: 'string', value: 'STATE', choices: ['open', 'draft', 'closed', 'merged'], about: 'list: only these' },
  run: { type: 'string', value: 'ID', about: 'list: only of this run' },
  limit: { type: 'string', value: 'N', about: 'list, commits, comments: how many, 100 by default and at most' },
  skip: { type: 'string', value: 'N', about: 'list, commits, comments: leave out this many' },
  title: { type: 'string', value: 'TEXT', about: 'edit: another title' },
  'body-file': { type: 'string', value: 'FILE', about: 'edit: another text; - reads standard input' },
  base: { type: 'string', value: 'BRANCH', about: 'edit: another branch that it is to be merged into' },
  path: { type: 'string', value: 'FILE', about: 'comment: on this file' },
  line: { type: 'string', value: 'N', about: 'comment: on this line of it' },
  squash: { type: 'boolean', about: 'merge: as one commit' },
  head: { type: 'string', value: 'SHA', about: 'merge: only this head commit; by default the one that the service showed last' },
} as const satisfies Options

type PrGiven = Given<typeof options>

export const pr = command({
  name: 'pr',
  summary: 'list pull requests, show one, comment on it, change it or merge it',
  takes:
    '[list | show ID | commits ID | diff ID | comments ID | comment ID TEXT|- | edit ID | draft ID | ready ID | close ID | reopen ID | merge ID]',
  words: [0, 3],
  choices: acts,
  options,
  notes: ['ID is the id of a pull request, which agentrun pr list shows first, rather than its number in the repository.'],
  async run(given) {
    const [act = 'list', which, text] = given.words
    if (act === 'list') return list(given)
    if (which === undefined) throw new UsageError(`agentrun pr ${act} takes the id of a pull request; agentrun pr list shows them`)
    if ((text !== undefined) !== (act === 'comment'))
      throw new UsageError(act === 'comment' ? 'agentrun pr comment takes what is to be said' : `agentrun pr ${act} takes nothing else`)
    const pr_id = whole('the id of a pull request', which)
    if (act === 'diff') return diff(given, pr_id)
    if (act === 'commits' || act === 'comments') return part(given, pr_id, act)
    if (act === 'comment') return comment(given, pr_id, text)
    if (act === 'merge') {
      const method = given.values.squash ? 'squash' : 'merge'
      const body = { method, expected_head_sha: given.values.head } as const
      await given.client().call('mergePullRequest', { params: { pr_id }, body, repeatable: true, signal: given.signal })
    } else if (act !== 'show') await edit(given, pr_id, act)
    return show(given, pr_id)
  },
})

async function list({ values, client, json, print, signal }: PrGiven): Promise<number> {
  const state = values.state as Answer<'getPullRequest'>['state'] | undefined
  const query = { ...pageOf(values), state, agent_run_id: whole('--run', values.run) }
  const page = await client().call('listPullRequests', { query, signal })
  if (json) print.json(page)
  else if (page.total === 0) print.note('no pull requests')
  else {
    const rows = [['ID', 'NUMBER', 'REPO', 'STATE', 'BRANCH', 'TITLE'], ...page.items.map(pullRequestRow)]
    for (const line of columns(rows, (cell, row) => (row === 0 ? print.style('dim', cell) : cell))) print.line(line)
    if (page.total > page.items.length) print.note(`${page.items.length} of ${page.total} pull requests; --skip shows others`)
  }
  return 0
}

async function show({ client, json, print, signal }: PrGiven, pr_id: number): Promise<number> {
  const found = await client().call('getPullRequest', { params: { pr_id }, signal })
  if (json) print.json(found)
  else for (const line of pullRequestLines(found)) print.line(line)
  return 0
}

async function diff({ client, json, print, signal }: PrGiven, pr_id: number): Promise<number> {
  const found = await client().call('getPullRequestDiff', { params: { pr_id }, signal })
  if (json) print.json(found)
  // As git wrote it, so that it can be applied; a terminal must not be told anything by it.
  else print.line((print.width === null ? found.patch : plainText(found.patch)).replace(/\n$/, ''))
  if (found.patch_truncated) print.note('the change is too large to be shown whole; its branch has all of it')
  return 0
}

async function part({ client, values, json, print, signal }: PrGiven, pr_id: number, what: 'commits' | 'comments'): Promise<number> {
  const asked = { params: { pr_id }, query: pageOf(values), signal }
  const [page, lines] =
    what === 'commits'
      ? await client()
          .call('listPullRequestCommits', asked)
          .then(found => [found, found.items.flatMap(commitLines)] as const)
      : await client()
          .call('listPullRequestComments', asked)
          .then(found => [found, found.items.flatMap(commentLines)] as const)
  if (json) print.json(page)
  else for (const line of lines) print.line(line)
  if (!json && page.total > page.items.length) print.note(`${page.items.length} of ${page.total} ${what}; --skip shows others`)
  return 0
}

async function comment(given: PrGiven, pr_id: number, word: string | undefined): Promise<number> {
  const { client, values, json, print, signal } = given
  const body = { body: await promptText(given, word), path: values.path, line: whole('--line', values.line) }
  const made = await client().call('createPullRequestComment', { params: { pr_id }, body, signal })
  if (json) print.json(made)
  else for (const line of commentLines(made)) print.line(line)
  return 0
}

async function edit({ client, values, signal }: PrGiven, pr_id: number, act: string): Promise<void> {
  const file = values['body-file']
  const text = file === undefined ? undefined : readFileSync(file === '-' ? 0 : file, 'utf8')
  const words = { title: values.title, body: text, base_branch: values.base }
  if (act === 'edit' && Object.values(words).every(value => value === undefined))
    throw new UsageError('agentrun pr edit takes --title, --body-file or --base')
  const body = act === 'edit' ? words : { state: states[act as keyof typeof states] }
  const answer = await client().call('editPullRequest', { params: { pr_id }, body, repeatable: true, signal })
  if (!answer.success) throw new CliError(answer.error ?? 'it was not changed')
}

const pageOf = ({ limit, skip }: { limit?: string; skip?: string }) => ({ limit: whole('--limit', limit), skip: whole('--skip', skip) })
