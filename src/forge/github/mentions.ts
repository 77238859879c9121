import type { z } from 'zod'
import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { activeLabel, isForUs, isLabelOf } from '../../core/forges/mention-rules.ts'
import type { Mention, MentionQuery, RemoteSubject } from '../port.ts'
import { readResponse } from '../read-response.ts'
import type { GitHubClient } from './client.ts'
import { unedited } from './edits.ts'
import { allPages } from './pages.ts'
import { Comment, IssueEvent, Numbered, Review, ReviewComment } from './shapes.ts'

type Person = { login: string; type: string } | null
/** Bots, and apps that act for people, are ignored. */
const isPerson = (user: Person, app?: unknown): user is NonNullable<Person> =>
  user !== null && user.type === 'User' && !user.login.endsWith('[bot]') && app == null

type TextMention = Omit<Mention, 'withdrawn'> & { node_id: string }

/** Mentions in texts, and labels. Only texts that mention us are checked for edits. */
export async function listMentions(
  client: GitHubClient,
  repo: ForgeRepository,
  subject: RemoteSubject,
  query: MentionQuery,
): Promise<Mention[]> {
  const all = [
    ...(await opening(client, repo, subject, query)),
    ...(await texts(client, repo, subject, query)),
  ]
  const ours = all.filter(({ body, at }) => at >= query.since && isForUs(body, query.name))
  const mentions = (await unedited(client, repo, ours)).map(
    ({ node_id: _, ...mention }): Mention => ({ ...mention, withdrawn: false }),
  )
  const labels =
    query.withdrawn || subject.labels.some(label => isLabelOf(label, query.name))
      ? await labelings(client, repo, subject, query)
      : []
  return [...mentions, ...labels].sort((a, b) => a.at.getTime() - b.at.getTime())
}

/** Its own text. The id of a pull request is not its id as an issue. */
async function opening(
  client: GitHubClient,
  repo: ForgeRepository,
  subject: RemoteSubject,
  { name, since }: MentionQuery,
): Promise<TextMention[]> {
  const { is_pull_request, url, body, author, author_association, created_at } = subject
  if (subject.is_bot || author.endsWith('[bot]') || created_at < since || !isForUs(body, name)) return []
  const { id, node_id } = await numbersOf(client, repo, subject)
  const event = is_pull_request ? 'pull_request' : 'issues'
  return [
    { by: 'opening', event, id, node_id, url, author, author_association, body: body ?? '', at: created_at },
  ]
}

async function numbersOf(
  client: GitHubClient,
  repo: ForgeRepository,
  { number, is_pull_request }: RemoteSubject,
) {
  const on = { owner: repo.owner, repo: repo.name }
  const { data } = await client.on<{ data: unknown }>(repo, octokit =>
    is_pull_request
      ? octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...on, pull_number: number })
      : octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}', { ...on, issue_number: number }),
  )
  return readResponse('GitHub', Numbered, data)
}

/** Comments, and those of a pull request's reviews. */
async function texts(
  client: GitHubClient,
  repo: ForgeRepository,
  subject: RemoteSubject,
  { since }: MentionQuery,
): Promise<TextMention[]> {
  const issue = {
    owner: repo.owner,
    repo: repo.name,
    issue_number: subject.number,
    since: since.toISOString(),
  }
  const pull = { owner: repo.owner, repo: repo.name, pull_number: subject.number }
  const comments =
    subject.comments === 0
      ? []
      : await allPages({ shape: Comment }, page =>
          client.on(repo, octokit =>
            octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', {
              ...issue,
              ...page,
            }),
          ),
        )
  const reviews = subject.is_pull_request
    ? await allPages({ shape: Review }, page =>
        client.on(repo, octokit =>
          octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews', { ...pull, ...page }),
        ),
      )
    : []
  const review_comments =
    reviews.length === 0
      ? []
      : await allPages({ shape: ReviewComment }, page =>
          client.on(repo, octokit =>
            octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/comments', {
              ...pull,
              since: since.toISOString(),
              sort: 'updated',
              direction: 'asc',
              ...page,
            }),
          ),
        )
  return [
    ...comments.flatMap(row =>
      isPerson(row.user, row.performed_via_github_app)
        ? [textMention({ by: 'comment', event: 'issue_comment', at: row.created_at }, row, row.user)]
        : [],
    ),
    // A pending review has no time.
    ...reviews.flatMap(row =>
      isPerson(row.user) && row.submitted_at
        ? [textMention({ by: 'review', event: 'pull_request_review', at: row.submitted_at }, row, row.user)]
        : [],
    ),
    // Published with its review.
    ...review_comments.flatMap(row => {
      if (!isPerson(row.user)) return []
      const sent = reviews.find(({ id }) => id === row.pull_request_review_id)?.submitted_at ?? row.created_at
      return [textMention({ by: 'comment', event: 'pull_request_review_comment', at: sent }, row, row.user)]
    }),
  ]
}

type TextRow = Pick<z.output<typeof Review>, 'id' | 'node_id' | 'html_url' | 'body' | 'author_association'>

const textMention = (
  { by, event, at }: Pick<TextMention, 'by' | 'event'> & { at: Date },
  row: TextRow,
  user: NonNullable<Person>,
): TextMention => ({
  by,
  event,
  id: row.id,
  node_id: row.node_id,
  url: row.html_url,
  author: user.login,
  author_association: row.author_association,
  body: row.body,
  at,
})

/** Times are in whole seconds: an edit in the second of a label may be later than it. */
const SECOND_MS = 1_000

/**
 * The labels of our name. A label requests work on the text of its time, so none that is older than the last
 * edit counts.
 */
async function labelings(
  client: GitHubClient,
  repo: ForgeRepository,
  subject: RemoteSubject,
  { name, since, withdrawn }: MentionQuery,
) {
  const issue = { owner: repo.owner, repo: repo.name, issue_number: subject.number }
  const rows = await allPages({ shape: IssueEvent }, page =>
    client.on(repo, octokit =>
      octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/events', { ...issue, ...page }),
    ),
  )
  const renamed = rows.findLast(({ event }) => event === 'renamed')
  const titled_at = renamed?.created_at ?? new Date(0)
  const ours = rows.filter(row => isLabelOf(row.label?.name ?? '', name))
  const active = activeLabel(ours.map(({ id, event }) => ({ id, given: event === 'labeled' })))
  const given = ours.flatMap((row): Mention[] => {
    const { id, actor, created_at: at } = row
    if (
      row.event !== 'labeled' ||
      at < since ||
      at <= titled_at ||
      !isPerson(actor, row.performed_via_github_app)
    )
      return []
    if (active !== id && !withdrawn) return []
    const label = {
      by: 'label',
      event: 'labeled',
      id,
      url: subject.url,
      author: actor.login,
      author_association: '',
    } as const
    return [{ ...label, body: subject.body, at, withdrawn: active !== id }]
  })
  if (given.length === 0) return []
  const { node_id } = await numbersOf(client, repo, subject)
  const labeled = given.map(mention => ({ mention, node_id, at: new Date(mention.at.getTime() - SECOND_MS) }))
  return (await unedited(client, repo, labeled)).map(({ mention }) => mention)
}
