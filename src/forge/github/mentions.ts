import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { activeLabel, isForUs, isLabelOf } from '../../core/forges/mention-rules.ts'
import type { AskedOf, Mention, RemoteSubject } from '../port.ts'
import type { GitHubClient } from './client.ts'
import { unedited } from './edits.ts'
import { allPages } from './pages.ts'

type Person = { login: string; type: string } | null
/** Whoever said it: nothing of bots, nor of apps in the name of people, is heard. */
const isPerson = (user: Person, app?: object | null): user is NonNullable<Person> =>
  user !== null && user.type === 'User' && !user.login.endsWith('[bot]') && app == null

type Said = Omit<Mention, 'withdrawn'> & { node_id: string }

/** What was asked by words and by labels. Only of what is for us GitHub is asked whether it was edited. */
export async function listMentions(client: GitHubClient, repo: ForgeRepository, subject: RemoteSubject, of: AskedOf): Promise<Mention[]> {
  const all = [...(await opening(client, repo, subject, of)), ...(await words(client, repo, subject, of))]
  const ours = all.filter(({ body, at }) => at >= of.since && isForUs(body, of.name))
  const asked = (await unedited(client, repo, ours)).map(({ node_id: _, ...ask }): Mention => ({ ...ask, withdrawn: false }))
  const labels = of.withdrawn || subject.labels.some(label => isLabelOf(label, of.name)) ? await labelings(client, repo, subject, of) : []
  return [...asked, ...labels].sort((a, b) => a.at.getTime() - b.at.getTime())
}

/** What it says itself. The number that a pull request is known by is not the one it has as an issue. */
async function opening(client: GitHubClient, repo: ForgeRepository, subject: RemoteSubject, { name, since }: AskedOf): Promise<Said[]> {
  const { is_pull_request, url, body, author, author_association, created_at } = subject
  if (subject.is_bot || author.endsWith('[bot]') || created_at < since || !isForUs(body, name)) return []
  const { id, node_id } = await numbersOf(client, repo, subject)
  const event = is_pull_request ? 'pull_request' : 'issues'
  return [{ by: 'opening', event, id, node_id, url, author, author_association, body: body ?? '', at: created_at }]
}

async function numbersOf(client: GitHubClient, repo: ForgeRepository, { number, is_pull_request }: RemoteSubject) {
  const on = { owner: repo.owner, repo: repo.name }
  const { data } = await client.on<{ data: { id: number | bigint; node_id: string } }>(repo, octokit =>
    is_pull_request
      ? octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...on, pull_number: number })
      : octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}', { ...on, issue_number: number }),
  )
  return { id: Number(data.id), node_id: data.node_id }
}

/** Comments, and in a pull request reviews and their remarks, which there are none of without a review. */
async function words(client: GitHubClient, repo: ForgeRepository, subject: RemoteSubject, { since }: AskedOf): Promise<Said[]> {
  const issue = { owner: repo.owner, repo: repo.name, issue_number: subject.number, since: since.toISOString() }
  const pull = { owner: repo.owner, repo: repo.name, pull_number: subject.number }
  const comments =
    subject.comments === 0
      ? []
      : await allPages(page =>
          client.on(repo, octokit => octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', { ...issue, ...page })),
        )
  const reviews = subject.is_pull_request
    ? await allPages(page =>
        client.on(repo, octokit => octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/reviews', { ...pull, ...page })),
      )
    : []
  const remarks =
    reviews.length === 0
      ? []
      : await allPages(page =>
          client.on(repo, octokit =>
            octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}/comments', {
              ...{ ...pull, since: since.toISOString(), sort: 'updated', direction: 'asc', ...page },
            }),
          ),
        )
  return [
    ...comments.flatMap(row =>
      isPerson(row.user, row.performed_via_github_app)
        ? [said('comment', 'issue_comment', row, row.user, row.author_association, row.created_at)]
        : [],
    ),
    // One that nobody has sent yet has no time.
    ...reviews.flatMap(row =>
      isPerson(row.user) && row.submitted_at
        ? [said('review', 'pull_request_review', row, row.user, row.author_association, row.submitted_at)]
        : [],
    ),
    // Written before its review was sent, and said with it.
    ...remarks.flatMap(row => {
      if (!isPerson(row.user)) return []
      const sent = reviews.find(({ id }) => id === row.pull_request_review_id)?.submitted_at ?? row.created_at
      return [said('comment', 'pull_request_review_comment', row, row.user, row.author_association, sent)]
    }),
  ]
}

const said = (
  by: Said['by'],
  event: Said['event'],
  row: { id: number | bigint; node_id: string; html_url: string; body?: string | null | undefined },
  user: NonNullable<Person>,
  author_association: string | undefined,
  at: string,
): Said => ({
  ...{ by, event, id: Number(row.id), node_id: row.node_id, url: row.html_url, author: user.login },
  ...{ author_association: author_association ?? '', body: row.body ?? '', at: new Date(at) },
})

/** Times of GitHub are of whole seconds: what was edited in the second of a label may have been edited after it. */
const SECOND_MS = 1_000

/** Who gave the label of our name, each time; it stands for the words that were there then, so none that is older than they are. */
async function labelings(client: GitHubClient, repo: ForgeRepository, subject: RemoteSubject, { name, since, withdrawn }: AskedOf) {
  const issue = { owner: repo.owner, repo: repo.name, issue_number: subject.number }
  const rows = await allPages(page =>
    client.on(repo, octokit => octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/events', { ...issue, ...page })),
  )
  const renamed = rows.findLast(({ event }) => event === 'renamed')
  const titled_at = renamed ? new Date(renamed.created_at) : new Date(0)
  const ours = rows.filter(row => 'label' in row && isLabelOf(row.label?.name ?? '', name))
  const standing = activeLabel(ours.map(({ id, event }) => ({ id: Number(id), given: event === 'labeled' })))
  const given = ours.flatMap((row): Mention[] => {
    const at = new Date(row.created_at)
    const { actor } = row
    if (row.event !== 'labeled' || at < since || at <= titled_at || !isPerson(actor, row.performed_via_github_app)) return []
    const id = Number(row.id)
    if (standing !== id && !withdrawn) return []
    const label = { by: 'label', event: 'labeled', id, url: subject.url, author: actor.login, author_association: '' } as const
    return [{ ...label, body: subject.body, at, withdrawn: standing !== id }]
  })
  if (given.length === 0) return []
  const { node_id } = await numbersOf(client, repo, subject)
  const said = given.map(ask => ({ ask, node_id, at: new Date(ask.at.getTime() - SECOND_MS) }))
  return (await unedited(client, repo, said)).map(({ ask }) => ask)
}
