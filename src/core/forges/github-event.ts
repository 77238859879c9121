import type { ForgeRepository } from './forge-address.ts'
import {
  type ForgeRequest,
  mayMention,
  mentionUnlessBot,
  OUR_MARK,
  type ReadEvent,
  requestUnlessBot,
  syncTaskFor,
  unknownEvent,
} from './forge-event.ts'
import { latest, long, number, same, short, text, valueAt } from './forge-payload.ts'
import { MARK_NAME } from './run-mark.ts'

const PULL_REQUEST_ACTIONS = ['closed', 'reopened', 'converted_to_draft', 'ready_for_review', 'edited', 'synchronize']

/**
 * Reads a signed delivery. `name` is our name there, without `@`: a comment that mentions it is a request, and so is a label of that name.
 * Comments of bots and later edits are not.
 */
export function readGitHubEvent(event: string, payload: unknown, name: string): ReadEvent {
  const at = (...path: string[]) => valueAt(payload, path)
  const action = text(at('action'))
  const repository = { owner: text(at('repository', 'owner', 'login')), name: text(at('repository', 'name')) }
  if (event === 'ping') return { ignored: 'a ping' }
  if (repository.owner === '' || repository.name === '') return { ignored: 'it is about no repository' }
  const pull_request = number(at('pull_request', 'number'))
  if (event === 'issue_comment' || event === 'pull_request_review_comment' || event === 'pull_request_review') {
    const review = event === 'pull_request_review'
    const source = review ? 'review' : 'comment'
    if (action !== (review ? 'submitted' : 'created')) return { ignored: `a ${source} that is ${action}` }
    if (at(source, 'performed_via_github_app') != null) return { ignored: 'it was written by an app' }
    if (text(at(source, 'body')).includes(OUR_MARK)) return { ignored: 'it is a comment of ours' }
    if (!mayMention(text(at(source, 'body')), name)) return { ignored: `nobody mentions @${name}` }
    const about = event === 'issue_comment' ? 'issue' : 'pull_request'
    const id = number(at(source, 'id'))
    const request: ForgeRequest = {
      ...{ kind: 'request', by: source, repository, number: number(at(about, 'number')) },
      ...{ is_pull_request: about === 'pull_request' || at('issue', 'pull_request') != null, title: short(at(about, 'title')) },
      ...{ body: long(at(source, 'body')), author: text(at(source, 'user', 'login')), comment_id: id, url: text(at(source, 'html_url')) },
      author_association: text(at(source, 'author_association')),
    }
    // A review comment is written before its review is submitted, and updated when it is.
    const written_at = latest(at(source, 'created_at'), at(source, 'updated_at'), at(source, 'submitted_at'))
    const mentioned_in = text(at(source, 'body'))
    return requestUnlessBot(at(source, 'user', 'type') !== 'User', request, `${event}:${id}`, { written_at, mentioned_in })
  }
  const subject = event === 'issues' ? 'issue' : 'pull_request'
  const opened = action === 'opened' && mayMention(text(at(subject, 'body')), name)
  const labeled = action === 'labeled' && same(text(at('label', 'name')), name)
  if ((event === 'issues' || event === 'pull_request') && (opened || labeled)) {
    const request = {
      ...{ kind: 'request' as const, repository, number: number(at(subject, 'number')), is_pull_request: subject === 'pull_request' },
      ...{ title: short(at(subject, 'title')), body: long(at(subject, 'body')), author: text(at('sender', 'login')) },
      ...{ author_association: '', comment_id: null, url: text(at(subject, 'html_url')) },
    }
    const is_bot = at('sender', 'type') !== 'User'
    if (labeled) return mentionUnlessBot(is_bot, 'label', request)
    const written_at = latest(at(subject, 'created_at'), at(subject, 'updated_at'))
    const once = `${event}:${number(at(subject, 'id'))}`
    return requestUnlessBot(is_bot, { ...request, by: 'opening' }, once, { written_at, mentioned_in: text(at(subject, 'body')) })
  }
  if (event === 'pull_request' && PULL_REQUEST_ACTIONS.includes(action))
    return { task: { kind: 'pull_request', repository, number: pull_request }, once: null }
  return isOwnMark(event, at, name) ? { ignored: 'it is a mark of ours' } : commitEvent(event, at, repository)
}

/** Reads an event about a commit or a branch, which GitHub is queried for. */
function commitEvent(event: string, at: (...path: string[]) => unknown, repository: ForgeRepository): ReadEvent {
  const checks = event === 'status' || event === 'check_run' || event === 'check_suite'
  const sha = event === 'status' ? at('sha') : at(event, 'head_sha')
  const task = syncTaskFor(event, repository, { sha: checks ? text(sha) : '', ref: text(at('ref')) })
  return task === null ? unknownEvent(event, text(at('action'))) : { task, once: null }
}

/**
 * Returns whether the event reports the status that this service set for a run: both name and author match. It is no check, so nothing
 * needs to be read.
 */
function isOwnMark(event: string, at: (...path: string[]) => unknown, name: string): boolean {
  if (event === 'status') return same(text(at('context')), MARK_NAME) && [name, `${name}[bot]`].includes(text(at('sender', 'login')))
  if (event === 'check_suite') return text(at('check_suite', 'app', 'slug')) === name
  return event === 'check_run' && text(at('check_run', 'name')) === MARK_NAME && text(at('check_run', 'app', 'slug')) === name
}
