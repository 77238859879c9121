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
import { latest, long, number, same, short, text } from './forge-payload.ts'
import { MARK_NAME } from './run-mark.ts'

const PULL_REQUEST_ACTIONS = [
  'closed',
  'reopened',
  'converted_to_draft',
  'ready_for_review',
  'edited',
  'synchronize',
]

/**
 * Reads a signed delivery. `name` is our name there, without `@`: a comment that mentions it is a request,
 * and so is a label of that name. Comments of bots and later edits are not.
 */
export function readGitHubEvent(event: string, payload: unknown, name: string): ReadEvent {
  if (event === 'ping') return { ignored: 'a ping' }
  const delivery = readDelivery(event, payload, name)
  if (delivery === null) return { ignored: 'it is about no repository' }
  if (event === 'issue_comment' || event === 'pull_request_review_comment')
    return commentEvent(delivery, 'comment')
  if (event === 'pull_request_review') return commentEvent(delivery, 'review')
  if (event === 'issues' || event === 'pull_request') return subjectEvent(delivery)
  return isOwnMark(delivery) ? { ignored: 'it is a mark of ours' } : commitEvent(delivery)
}

/** Reads a comment on an issue, a pull request or a line of its diff, or a submitted review. */
function commentEvent(
  { event, action, at, repository, name }: Delivery,
  source: 'comment' | 'review',
): ReadEvent {
  if (action !== (source === 'review' ? 'submitted' : 'created'))
    return { ignored: `a ${source} that is ${action}` }
  if (at(source, 'performed_via_github_app') != null) return { ignored: 'it was written by an app' }
  const body = text(at(source, 'body'))
  if (body.includes(OUR_MARK)) return { ignored: 'it is a comment of ours' }
  if (!mayMention(body, name)) return { ignored: `nobody mentions @${name}` }
  const subject = event === 'issue_comment' ? 'issue' : 'pull_request'
  const id = number(at(source, 'id'))
  const request: ForgeRequest = {
    kind: 'request',
    by: source,
    repository,
    number: number(at(subject, 'number')),
    is_pull_request: subject === 'pull_request' || at('issue', 'pull_request') != null,
    title: short(at(subject, 'title')),
    body: long(body),
    author: text(at(source, 'user', 'login')),
    author_association: text(at(source, 'author_association')),
    comment_id: id,
    url: text(at(source, 'html_url')),
  }
  // A review comment is written before its review is submitted, and updated when it is.
  const written_at = latest(at(source, 'created_at'), at(source, 'updated_at'), at(source, 'submitted_at'))
  return requestUnlessBot(at(source, 'user', 'type') !== 'User', request, `${event}:${id}`, {
    written_at,
    mentioned_in: body,
  })
}

/**
 * Reads a change of an issue or a pull request: a new one that mentions us, our label, or a change that
 * GitHub is queried for.
 */
function subjectEvent(delivery: Delivery): ReadEvent {
  const { event, action, at, repository, name } = delivery
  const subject = event === 'issues' ? 'issue' : 'pull_request'
  if (action === 'opened' && mayMention(text(at(subject, 'body')), name))
    return openingEvent(delivery, subject)
  const subject_number = number(at(subject, 'number'))
  if (action === 'labeled' && same(text(at('label', 'name')), name)) {
    const author = text(at('sender', 'login'))
    return mentionUnlessBot(at('sender', 'type') !== 'User', 'label', {
      repository,
      number: subject_number,
      author,
    })
  }
  if (event === 'pull_request' && PULL_REQUEST_ACTIONS.includes(action))
    return { task: { kind: 'pull_request', repository, number: subject_number }, once: null }
  return unknownEvent(event, action)
}

/** Reads a new issue or pull request whose description mentions us. */
function openingEvent({ event, at, repository }: Delivery, subject: 'issue' | 'pull_request'): ReadEvent {
  const body = text(at(subject, 'body'))
  const request: ForgeRequest = {
    kind: 'request',
    by: 'opening',
    repository,
    number: number(at(subject, 'number')),
    is_pull_request: subject === 'pull_request',
    title: short(at(subject, 'title')),
    body: long(body),
    author: text(at('sender', 'login')),
    author_association: '',
    comment_id: null,
    url: text(at(subject, 'html_url')),
  }
  const written_at = latest(at(subject, 'created_at'), at(subject, 'updated_at'))
  const once = `${event}:${number(at(subject, 'id'))}`
  return requestUnlessBot(at('sender', 'type') !== 'User', request, once, { written_at, mentioned_in: body })
}

/** Reads an event about a commit or a branch, which GitHub is queried for. */
function commitEvent({ event, action, at, repository }: Delivery): ReadEvent {
  const checks = event === 'status' || event === 'check_run' || event === 'check_suite'
  const sha = event === 'status' ? at('sha') : at(event, 'head_sha')
  const task = syncTaskFor(event, repository, { sha: checks ? text(sha) : '', ref: text(at('ref')) })
  return task === null ? unknownEvent(event, action) : { task, once: null }
}

/**
 * Returns whether the event reports the status that this service set for a run: both name and author match.
 * It is not a check, so nothing needs to be read.
 */
function isOwnMark({ event, at, name }: Delivery): boolean {
  if (event === 'status')
    return (
      same(text(at('context')), MARK_NAME) && [name, `${name}[bot]`].includes(text(at('sender', 'login')))
    )
  if (event === 'check_suite') return text(at('check_suite', 'app', 'slug')) === name
  return (
    event === 'check_run' &&
    text(at('check_run', 'name')) === MARK_NAME &&
    text(at('check_run', 'app', 'slug')) === name
  )
}
