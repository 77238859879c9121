import { type ForgeRequest, MAX_MENTION_AGE_MS } from '../../core/forges/forge-event.ts'
import { long, short, text } from '../../core/forges/forge-payload.ts'
import type { OnForge } from '../../forge/forges.ts'
import type { Mention, RemoteSubject } from '../../forge/port.ts'
import { visiblyMentions } from '../../markdown/visible-mention.ts'
import type { RepositoryRow } from '../../store/access/repositories.ts'
import { insertForgeDelivery } from '../../store/forges/forge-deliveries.ts'
import type { ForgeRow } from '../../store/forges/forges.ts'
import type { Services } from '../context.ts'
import { mentionName, subjectOf } from './receive-delivery.ts'

export type MentionSource = { forge: ForgeRow; on: OnForge; repository: RepositoryRow }
/** A delivery reported a label or a review: when. */
type ReportedRequest = { by: 'label' | 'review'; at: Date }

/** By how much the clock of a forge may be ahead of ours. */
const CLOCK_SKEW_MS = 5_000

/**
 * Returns the time from which mentions count: not before the repository was registered or the forge
 * connected, and at most a day ago.
 */
export const mentionsSince = ({ forge, repository }: MentionSource): Date =>
  new Date(
    Math.max(
      Date.now() - MAX_MENTION_AGE_MS,
      repository.mentions_since.getTime(),
      forge.connected_at.getTime(),
    ),
  )

/**
 * Records the mentions on an issue or pull request, each once, by poll or delivery. A label that was removed
 * is not a mention, unless a delivery reported it: then the last one that had been added by then is. Returns
 * all mentions.
 */
export async function recordMentions(
  { db }: Pick<Services, 'db'>,
  source: MentionSource,
  subject: RemoteSubject,
  reported: ReportedRequest | null = null,
): Promise<Mention[]> {
  const { forge, on } = source
  const since = mentionsSince(source)
  const labeled_by = reported?.by === 'label' ? reported.at.getTime() + CLOCK_SKEW_MS : null
  const name = mentionName(forge)
  const listed = await on.forge.listMentions(on.repository, subject, {
    name,
    since,
    withdrawn: labeled_by !== null,
  })
  const all: Mention[] = []
  for (const mention of listed)
    if (mention.by === 'label' || (await visiblyMentions(forge.id, mention.body ?? '', name)))
      all.push(mention)
  // A label that was added after the subject was read may belong to another text: the next poll reads both.
  const mentions = all.filter(
    ({ by, at }) => by !== 'label' || at.getTime() <= subject.changed_at.getTime() + CLOCK_SKEW_MS,
  )
  const reported_label = mentions.findLast(
    ({ by, at }) => by === 'label' && labeled_by !== null && at.getTime() <= labeled_by,
  )
  for (const mention of mentions) {
    if (mention.withdrawn && mention !== reported_label) continue
    const task = requestOf(on.repository, subject, mention)
    const once = `${mention.event}:${mention.id}`
    await insertForgeDelivery(db, {
      // No delivery has a colon in its id.
      organization_id: forge.organization_id,
      forge_id: forge.id,
      delivery: `look:${once}`,
      event: mention.event,
      once,
      subject: subjectOf(task),
      task: JSON.stringify(task),
      outcome: null,
    })
  }
  return mentions
}

function requestOf(
  repository: ForgeRequest['repository'],
  subject: RemoteSubject,
  mention: Mention,
): ForgeRequest {
  const { by, author, author_association, id } = mention
  return {
    kind: 'request',
    by,
    repository,
    number: subject.number,
    is_pull_request: subject.is_pull_request,
    title: short(subject.title),
    body: long(mention.body),
    author: text(author),
    author_association: text(author_association),
    url: text(mention.url),
    comment_id: by === 'comment' || by === 'review' ? id : null,
  }
}
