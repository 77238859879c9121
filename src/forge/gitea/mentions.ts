import { same } from '../../core/forges/forge-payload.ts'
import { activeLabel, isForUs, isLabelOf } from '../../core/forges/mention-rules.ts'
import type { AskedOf, Mention, RemoteSubject } from '../port.ts'
import type { GiteaClient } from './client.ts'
import { type Happened, Numbered, Remarks, Review, Timeline } from './shapes.ts'

/** Between what happened to an issue and when it says that it changed. */
const SAME_MS = 2_000
/** The same for a label: times are of whole seconds, and no longer, lest somebody waits for it. */
const LABEL_MS = 1_000

type Person = { id: number; login: string } | null | undefined
/** The server's own actions, and accounts that were deleted, have numbers below one. */
const isPerson = (user: Person): user is NonNullable<Person> => user != null && user.id > 0 && !user.login.endsWith('[bot]')

/** By the timeline, which is asked for as a whole: of its pages nobody knows which is the last. It has no remarks, their reviews do. */
export async function listMentions(client: GiteaClient, at: string, subject: RemoteSubject, of: AskedOf): Promise<Mention[]> {
  const happened = await client.get(Timeline, `${at}/issues/${subject.number}/timeline`, { since: of.since.toISOString() })
  const remarks = subject.is_pull_request ? await listRemarks(client, at, subject.number, happened) : []
  const said = [
    ...happened.flatMap(row => {
      if (row.type !== 'comment' && row.type !== 'review') return []
      if (row.updated_at > row.created_at) return []
      const place = row.type === 'comment' ? (['issue_comment', row.id] as const) : (['pull_request_review', row.review_id ?? 0] as const)
      return [saidBy(row.user, row.type, place, row, row.created_at)]
    }),
    ...remarks.flatMap(({ row, sent }) =>
      row.updated_at > sent ? [] : [saidBy(row.user, 'comment', ['pull_request_review_comment', row.id], row, sent)],
    ),
  ]
  const times = [...happened.map(row => row.created_at), ...remarks.map(({ row }) => row.created_at), subject.created_at]
  const newest = Math.max(...times.map(time => time.getTime()))
  // It does not say whether what it says itself was edited: then it changed, and nothing had happened to it.
  const edited = subject.changed_at.getTime() > newest + SAME_MS
  return [
    ...(edited ? [] : await opening(client, at, subject, of)),
    ...said.flat().filter(({ body, at }) => at >= of.since && isForUs(body, of.name)),
    ...labelings(happened, subject, of),
  ].sort((a, b) => a.at.getTime() - b.at.getTime())
}

async function opening(client: GiteaClient, at: string, subject: RemoteSubject, { name, since }: AskedOf): Promise<Mention[]> {
  const { number, is_pull_request, url, body, author, author_association, created_at } = subject
  if (subject.is_bot || author.endsWith('[bot]') || created_at < since || !isForUs(body, name)) return []
  const { id } = await client.get(Numbered, `${at}/${is_pull_request ? 'pulls' : 'issues'}/${number}`)
  const event = is_pull_request ? 'pull_request' : 'issues'
  return [{ by: 'opening', event, id, url, author, author_association, body, at: created_at, withdrawn: false }]
}

/** With when they were sent: those of a review with it, later ones when they were written. */
async function listRemarks(client: GiteaClient, at: string, number: number, happened: Happened[]) {
  const remarks = []
  const path = `${at}/pulls/${number}/reviews`
  for await (const page of client.pages(Review, path))
    for (const review of page) {
      if (review.state === 'PENDING' || (review.comments_count ?? 0) === 0) continue
      const sent = happened.find(row => row.type === 'review' && row.review_id === review.id)?.created_at
      for (const row of await client.get(Remarks, `${path}/${review.id}/comments`))
        remarks.push({ row, sent: sent !== undefined && sent > row.created_at ? sent : row.created_at })
    }
  return remarks
}

const saidBy = (
  user: Person,
  by: Mention['by'],
  [event, id]: readonly [Mention['event'], number],
  { html_url: url, body }: { html_url: string; body: string },
  at: Date,
): Mention[] =>
  isPerson(user) ? [{ ...{ by, event, id, url, author: user.login, author_association: '', body, at }, withdrawn: false }] : []

/** A label stands for the words that were there when it was given. They are known to be those where nothing has happened since, or who gave it wrote them. */
const mayBeOfOtherWords = (subject: RemoteSubject, login: string, at: Date): boolean =>
  subject.changed_at.getTime() > at.getTime() + LABEL_MS && !same(login, subject.author)

function labelings(happened: Happened[], subject: RemoteSubject, { name, since, withdrawn }: AskedOf): Mention[] {
  const ours = happened.filter(row => row.type === 'label' && isLabelOf(row.label?.name ?? '', name))
  const standing = activeLabel(ours.map(({ id, body }) => ({ id, given: body === '1' })))
  return ours.flatMap(({ id, user, body, created_at: at }): Mention[] => {
    if (body !== '1' || at < since || !isPerson(user) || (standing !== id && !withdrawn)) return []
    if (mayBeOfOtherWords(subject, user.login, at)) return []
    const given = { by: 'label', event: 'labeled', id, url: subject.url, author: user.login, author_association: '' } as const
    return [{ ...given, body: subject.body, at, withdrawn: standing !== id }]
  })
}
