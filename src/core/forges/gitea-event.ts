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
 * Reads a signed delivery of Gitea or Forgejo, with the same meaning as one of GitHub. `name` is our account there, without `@`. Reviews
 * come without their number, and label changes of some versions without the label: the forge is queried for both.
 */
export function readGiteaEvent(event: string, payload: unknown, name: string): ReadEvent {
  const at = (...path: string[]) => valueAt(payload, path)
  const action = text(at('action'))
  const repository = { owner: text(at('repository', 'owner', 'login')), name: text(at('repository', 'name')) }
  if (repository.owner === '' || repository.name === '') return { ignored: 'it is about no repository' }
  const subject = at('pull_request') != null ? 'pull_request' : 'issue'
  const isPull = subject === 'pull_request' || at('is_pull') === true || at('issue', 'pull_request') != null
  const about = { repository, number: number(at(subject, 'number')), is_pull_request: isPull, title: short(at(subject, 'title')) }
  const isBot = (...person: string[]) => number(at(...person, 'id')) === 0
  const sender = { ...about, author: text(at('sender', 'login')) }
  const by = (author: string, event_kind: Pick<ForgeRequest, 'by' | 'body' | 'comment_id' | 'url'>): ForgeRequest => ({
    ...{ kind: 'request', ...about, ...event_kind, author, author_association: '' },
  })
  if (event === 'issue_comment' || REVIEW.test(event)) {
    const review = at('review') != null
    const event_kind = review ? 'review' : 'comment'
    const body = review ? at('review', 'content') : at('comment', 'body')
    if (action !== (review ? 'reviewed' : 'created')) return { ignored: `a ${event_kind} that is ${action}` }
    if (text(body).includes(OUR_MARK)) return { ignored: 'it is a comment of ours' }
    if (!mayMention(text(body), name)) return { ignored: `nobody mentions @${name}` }
    if (review) return mentionUnlessBot(isBot('sender'), 'review', { ...sender, mentioned_in: text(body) })
    const id = number(at('comment', 'id'))
    const text_fields = { by: 'comment', body: long(body), comment_id: id, url: text(at('comment', 'html_url')) } as const
    const request = by(text(at('comment', 'user', 'login')), text_fields)
    const written_at = latest(at('comment', 'created_at'), at('comment', 'updated_at'))
    return requestUnlessBot(isBot('comment', 'user'), request, `issue_comment:${id}`, { written_at, mentioned_in: text(body) })
  }
  if (event === 'issues' || event === 'pull_request') {
    const text_fields = { by: 'opening', body: long(at(subject, 'body')), comment_id: null, url: text(at(subject, 'html_url')) } as const
    if (action === 'opened' && mayMention(text(at(subject, 'body')), name)) {
      const written_at = latest(at(subject, 'created_at'), at(subject, 'updated_at'))
      const request = by(sender.author, text_fields)
      const once = `${event}:${number(at(subject, 'id'))}`
      return requestUnlessBot(isBot('sender'), request, once, { written_at, mentioned_in: text(at(subject, 'body')) })
    }
    const added = at('changes', 'added_labels')
    const labels = Array.isArray(added) ? added : at(subject, 'labels')
    const labeled = Array.isArray(labels) && labels.some(label => same(text(valueAt(label, ['name'])), name))
    if (action === 'label_updated' && labeled) return mentionUnlessBot(isBot('sender'), 'label', sender)
  }
  if (event === 'pull_request' && PULL_REQUEST_ACTIONS.includes(action))
    return { task: { kind: 'pull_request', repository, number: about.number }, once: null }
  return commitEvent(event, at, repository, name)
}

/** Reads an event about a commit or a branch, which the forge is queried for. */
function commitEvent(event: string, at: (...path: string[]) => unknown, repository: ForgeRepository, name: string): ReadEvent {
  // The status that this service sets for a run.
  if (event === 'status' && text(at('context')) === MARK_NAME && same(text(at('sender', 'login')), name))
    return { ignored: 'it is a mark of ours' }
  const path = COMMITS.find(([events]) => events.test(event))?.[1]
  const task = syncTaskFor(event, repository, { sha: path ? text(at(...path)) : '', ref: text(at('ref')) })
  return task === null ? unknownEvent(event, text(at('action'))) : { task, once: null }
}
