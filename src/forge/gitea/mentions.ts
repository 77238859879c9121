import { same } from '../../core/forges/forge-payload.ts'
import { activeLabel, isForUs, isLabelOf } from '../../core/forges/mention-rules.ts'
import type { Mention, MentionQuery, RemoteSubject } from '../port.ts'
import type { GiteaClient } from './client.ts'
import { Numbered, Review, ReviewComments, Timeline, type TimelineEvent } from './shapes.ts'

/** Between an event of an issue and the time of change that the issue shows. */
const EVENT_SKEW_MS = 2_000
/** The same for a label: times are in whole seconds. */
const LABEL_SKEW_MS = 1_000

type Person = { id: number; login: string } | null | undefined
/** Gitea's own actions, and accounts that were deleted, have numbers below one. */
const isPerson = (user: Person): user is NonNullable<Person> =>
  user != null && user.id > 0 && !user.login.endsWith('[bot]')

/**
 * Returns the mentions of a subject by its timeline, which is requested as a whole because its last page
 * cannot be recognized, and by the comments of reviews, which it lacks.
 */
export async function listMentions(
  client: GiteaClient,
  at: string,
  subject: RemoteSubject,
  query: MentionQuery,
): Promise<Mention[]> {
  const events = await client.get(Timeline, `${at}/issues/${subject.number}/timeline`, {
    since: query.since.toISOString(),
  })
  const review_comments = subject.is_pull_request
    ? await listReviewComments(client, at, subject.number, events)
    : []
  const mentions = [
    ...events.flatMap(row => {
      if (row.type !== 'comment' && row.type !== 'review') return []
      if (row.updated_at > row.created_at) return []
      const event =
        row.type === 'comment'
          ? (['issue_comment', row.id] as const)
          : (['pull_request_review', row.review_id ?? 0] as const)
      return [mentionBy(row.user, row.type, event, row, row.created_at)]
    }),
    ...review_comments.flatMap(({ row, sent }) =>
      row.updated_at > sent
        ? []
        : [mentionBy(row.user, 'comment', ['pull_request_review_comment', row.id], row, sent)],
    ),
  ]
  const times = [
    ...events.map(row => row.created_at),
    ...review_comments.map(({ row }) => row.created_at),
    subject.created_at,
  ]
  const newest = Math.max(...times.map(time => time.getTime()))
  // Gitea does not report whether its own text was edited: then it changed without an event.
  const edited = subject.changed_at.getTime() > newest + EVENT_SKEW_MS
  return [
    ...(edited ? [] : await opening(client, at, subject, query)),
    ...mentions.flat().filter(({ body, at }) => at >= query.since && isForUs(body, query.name)),
    ...labelings(events, subject, query),
  ].sort((a, b) => a.at.getTime() - b.at.getTime())
}

async function opening(
  client: GiteaClient,
  at: string,
  subject: RemoteSubject,
  { name, since }: MentionQuery,
): Promise<Mention[]> {
  const { number, is_pull_request, url, body, author, author_association, created_at } = subject
  if (subject.is_bot || author.endsWith('[bot]') || created_at < since || !isForUs(body, name)) return []
  const { id } = await client.get(Numbered, `${at}/${is_pull_request ? 'pulls' : 'issues'}/${number}`)
  const event = is_pull_request ? 'pull_request' : 'issues'
  return [
    { by: 'opening', event, id, url, author, author_association, body, at: created_at, withdrawn: false },
  ]
}

/** With the time when they were published: with their review, later ones when they were written. */
async function listReviewComments(client: GiteaClient, at: string, number: number, events: TimelineEvent[]) {
  const review_comments = []
  const path = `${at}/pulls/${number}/reviews`
  for await (const page of client.pages(Review, path))
    for (const review of page) {
      if (review.state === 'PENDING' || review.comments_count === 0) continue
      const sent = events.find(row => row.type === 'review' && row.review_id === review.id)?.created_at
      for (const row of await client.get(ReviewComments, `${path}/${review.id}/comments`))
        review_comments.push({
          row,
          sent: sent !== undefined && sent > row.created_at ? sent : row.created_at,
        })
    }
  return review_comments
}

const mentionBy = (
  user: Person,
  by: Mention['by'],
  [event, id]: readonly [Mention['event'], number],
  { html_url: url, body }: { html_url: string; body: string },
  at: Date,
): Mention[] =>
  isPerson(user)
    ? [{ by, event, id, url, author: user.login, author_association: '', body, at, withdrawn: false }]
    : []

/**
 * A label requests work on the text of its time. That is the text now if nothing has changed since, or if its
 * author added the label.
 */
const mayBeOfOtherText = (subject: RemoteSubject, login: string, at: Date): boolean =>
  subject.changed_at.getTime() > at.getTime() + LABEL_SKEW_MS && !same(login, subject.author)

function labelings(
  events: TimelineEvent[],
  subject: RemoteSubject,
  { name, since, withdrawn }: MentionQuery,
): Mention[] {
  const ours = events.filter(row => row.type === 'label' && isLabelOf(row.label?.name ?? '', name))
  const active = activeLabel(ours.map(({ id, body }) => ({ id, given: body === '1' })))
  return ours.flatMap(({ id, user, body, created_at: at }): Mention[] => {
    if (body !== '1' || at < since || !isPerson(user) || (active !== id && !withdrawn)) return []
    if (mayBeOfOtherText(subject, user.login, at)) return []
    const given = {
      by: 'label',
      event: 'labeled',
      id,
      url: subject.url,
      author: user.login,
      author_association: '',
    } as const
    return [{ ...given, body: subject.body, at, withdrawn: active !== id }]
  })
}
