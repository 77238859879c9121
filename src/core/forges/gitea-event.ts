import {
  type Delivery,
  type ForgeRequest,
  mayMention,
  mentionUnlessBot,
  OUR_MARK,
  type ReadEvent,
  readDelivery,
  requestUnlessBot,
  syncTaskFor,
  unknownEvent,
} from './forge-event.ts'
import { latest, long, number, same, short, text, valueAt } from './forge-payload.ts'
import { MARK_NAME } from './run-mark.ts'

const PULL_REQUEST_ACTIONS = ['closed', 'reopened', 'edited', 'synchronized']
const REVIEW = /^pull_request_(review_)?(approved|rejected|comment)$/
/** The path of the commit in the payload of a check, by event; `action_run_…` is Forgejo's. */
const COMMITS: [RegExp, string[]][] = [
  [/^status$/, ['sha']],
  [/^workflow_run$/, ['workflow_run', 'head_sha']],
  [/^workflow_job$/, ['workflow_job', 'head_sha']],
  [/^action_run_/, ['run', 'commit_sha']],
]

/**
 * Reads a signed delivery of Gitea or Forgejo, with the same meaning as one of GitHub. `name` is our account
 * there, without `@`. Reviews come without their number, and label changes of some versions without the
 * label: the forge is queried for both.
 */
export function readGiteaEvent(event: string, payload: unknown, name: string): ReadEvent {
  const delivery = readDelivery(event, payload, name)
  if (delivery === null) return { ignored: 'it is about no repository' }
  if (event === 'issue_comment' || REVIEW.test(event))
    return delivery.at('review') != null ? reviewEvent(delivery) : commentEvent(delivery)
  if (event === 'issues' || event === 'pull_request') return subjectEvent(delivery)
  return commitEvent(delivery)
}

/** Reads a submitted review. */
function reviewEvent(delivery: Delivery): ReadEvent {
  const { action, at } = delivery
  if (action !== 'reviewed') return { ignored: `a review that is ${action}` }
  const body = text(at('review', 'content'))
  const ignored = ignoredText(delivery, body)
  if (ignored !== null) return { ignored }
  const author = text(at('sender', 'login'))
  return mentionUnlessBot(isBot(at('sender', 'id')), 'review', {
    ...aboutOf(delivery),
    author,
    mentioned_in: body,
  })
}

/** Reads a comment on an issue or a pull request. */
function commentEvent(delivery: Delivery): ReadEvent {
  const { action, at } = delivery
  if (action !== 'created') return { ignored: `a comment that is ${action}` }
  const body = text(at('comment', 'body'))
  const ignored = ignoredText(delivery, body)
  if (ignored !== null) return { ignored }
  const id = number(at('comment', 'id'))
  const request: ForgeRequest = {
    kind: 'request',
    by: 'comment',
    ...aboutOf(delivery),
    body: long(body),
    author: text(at('comment', 'user', 'login')),
    author_association: '',
    comment_id: id,
    url: text(at('comment', 'html_url')),
  }
  const written_at = latest(at('comment', 'created_at'), at('comment', 'updated_at'))
  return requestUnlessBot(isBot(at('comment', 'user', 'id')), request, `issue_comment:${id}`, {
    written_at,
    mentioned_in: body,
  })
}

/**
 * Reads a change of an issue or a pull request: a new one that mentions us, our label, or a change that the
 * forge is queried for.
 */
function subjectEvent(delivery: Delivery): ReadEvent {
  const { event, action, at, repository, name } = delivery
  const about = aboutOf(delivery)
  if (action === 'opened' && mayMention(text(at(subjectOf(delivery), 'body')), name))
    return openingEvent(delivery)
  if (action === 'label_updated' && isLabeled(delivery))
    return mentionUnlessBot(isBot(at('sender', 'id')), 'label', {
      ...about,
      author: text(at('sender', 'login')),
    })
  if (event === 'pull_request' && PULL_REQUEST_ACTIONS.includes(action))
    return { task: { kind: 'pull_request', repository, number: about.number }, once: null }
  return unknownEvent(event, action)
}

/** Reads a new issue or pull request whose description mentions us. */
function openingEvent(delivery: Delivery): ReadEvent {
  const { event, at } = delivery
  const subject = subjectOf(delivery)
  const body = text(at(subject, 'body'))
  const request: ForgeRequest = {
    kind: 'request',
    by: 'opening',
    ...aboutOf(delivery),
    body: long(body),
    author: text(at('sender', 'login')),
    author_association: '',
    comment_id: null,
    url: text(at(subject, 'html_url')),
  }
  const written_at = latest(at(subject, 'created_at'), at(subject, 'updated_at'))
  const once = `${event}:${number(at(subject, 'id'))}`
  return requestUnlessBot(isBot(at('sender', 'id')), request, once, { written_at, mentioned_in: body })
}

/** Reads an event about a commit or a branch, which the forge is queried for. */
function commitEvent({ event, action, at, repository, name }: Delivery): ReadEvent {
  // The status that this service sets for a run.
  if (event === 'status' && text(at('context')) === MARK_NAME && same(text(at('sender', 'login')), name))
    return { ignored: 'it is a mark of ours' }
  const path = COMMITS.find(([events]) => events.test(event))?.[1]
  const task = syncTaskFor(event, repository, { sha: path ? text(at(...path)) : '', ref: text(at('ref')) })
  return task === null ? unknownEvent(event, action) : { task, once: null }
}

const subjectOf = ({ at }: Delivery) => (at('pull_request') != null ? 'pull_request' : 'issue')

/** Returns the issue or pull request of a delivery, as a request names it. */
function aboutOf(
  delivery: Delivery,
): Pick<ForgeRequest, 'repository' | 'number' | 'is_pull_request' | 'title'> {
  const { at, repository } = delivery
  const subject = subjectOf(delivery)
  return {
    repository,
    number: number(at(subject, 'number')),
    is_pull_request:
      subject === 'pull_request' || at('is_pull') === true || at('issue', 'pull_request') != null,
    title: short(at(subject, 'title')),
  }
}

/** Returns why the text of a comment or review is ignored; null: it may mention us. */
function ignoredText({ name }: Delivery, body: string): string | null {
  if (body.includes(OUR_MARK)) return 'it is a comment of ours'
  return mayMention(body, name) ? null : `nobody mentions @${name}`
}

const isBot = (user_id: unknown) => number(user_id) === 0

/**
 * Returns whether our label was added; if the delivery does not contain the added labels, whether it is
 * there.
 */
function isLabeled(delivery: Delivery): boolean {
  const { at, name } = delivery
  const added = at('changes', 'added_labels')
  const labels = Array.isArray(added) ? added : at(subjectOf(delivery), 'labels')
  return Array.isArray(labels) && labels.some(label => same(text(valueAt(label, ['name'])), name))
}
