import { type ForgeRequest, MAX_MENTION_AGE_MS } from '../../core/forges/forge-event.ts'
import { long, short, text } from '../../core/forges/forge-payload.ts'
import type { OnForge } from '../../forge/forges.ts'
import type { Mention, RemoteSubject } from '../../forge/port.ts'
import type { RepositoryRow } from '../../store/access/repositories.ts'
import { insertForgeDelivery } from '../../store/forges/forge-deliveries.ts'
import type { ForgeRow } from '../../store/forges/forges.ts'
import type { Services } from '../context.ts'
import { mentionName, subjectOf } from './receive-delivery.ts'

export type AskedPlace = { forge: ForgeRow; on: OnForge; repository: RepositoryRow }
/** Somebody told us that a label was given, or a review: when. */
type ToldOf = { by: 'label' | 'review'; at: Date }

/** By how much the clock of a forge may be before ours. */
const CLOCKS_MS = 5_000

/** What was asked before is over: longer ago than anybody waits, or before the repository was registered or the forge connected. */
export const heardSince = ({ forge, repository }: AskedPlace): Date =>
  new Date(Math.max(Date.now() - MAX_MENTION_AGE_MS, repository.forge_heard_from.getTime(), forge.connected_at.getTime()))

/**
 * Writes down what was asked of us on an issue or pull request, each once, whoever finds it. A label that was taken off is none, unless we were
 * told of it: then it is the last that had been given by then. Answers what there is.
 */
export async function recordMentions(
  { db }: Pick<Services, 'db'>,
  place: AskedPlace,
  subject: RemoteSubject,
  told: ToldOf | null = null,
): Promise<Mention[]> {
  const { forge, on } = place
  const since = heardSince(place)
  const of_label = told?.by === 'label' ? told.at.getTime() + CLOCKS_MS : null
  const all = await on.forge.listMentions(on.repository, subject, { name: mentionName(forge), since, withdrawn: of_label !== null })
  // A label that was given after the subject was read may stand for other words: the next look has both.
  const asked = all.filter(({ by, at }) => by !== 'label' || at.getTime() <= subject.changed_at.getTime() + CLOCKS_MS)
  const told_of = asked.findLast(({ by, at }) => by === 'label' && of_label !== null && at.getTime() <= of_label)
  for (const ask of asked) {
    if (ask.withdrawn && ask !== told_of) continue
    const task = requestOf(on.repository, subject, ask)
    const once = `${ask.event}:${ask.id}`
    await insertForgeDelivery(db, {
      // No delivery has a colon in its id.
      ...{ organization_id: forge.organization_id, forge_id: forge.id, delivery: `look:${once}`, event: ask.event },
      ...{ once, subject: subjectOf(task), task: JSON.stringify(task), outcome: null },
    })
  }
  return asked
}

function requestOf(repository: ForgeRequest['repository'], subject: RemoteSubject, ask: Mention): ForgeRequest {
  const { by, author, author_association, id } = ask
  return {
    ...{ kind: 'request', by, repository, number: subject.number, is_pull_request: subject.is_pull_request, title: short(subject.title) },
    ...{ body: long(ask.body), author: text(author), author_association: text(author_association), url: text(ask.url) },
    comment_id: by === 'comment' || by === 'review' ? id : null,
  }
}
