import { exampleOf } from './description.ts'
import { type FakeRequest, type ForgeResponse, list, page } from './fake-operations.ts'
import type { FakeState } from './fake-state.ts'

// biome-ignore lint/suspicious/noExplicitAny: responses are built on the published examples
type Json = any

const LONG_AGO = '2026-11-01T10:00:00Z'
const latest = (...times: string[]) =>
  new Date(Math.max(...times.map(time => Date.parse(time)))).toISOString()
const bySince =
  (request: FakeRequest, timeOf: (row: Json) => string) =>
  (row: Json): boolean =>
    Date.parse(timeOf(row)) >= Date.parse(request.query.get('since') ?? LONG_AGO)

export type FakeSubject = {
  number: number
  is_pull: boolean
  title: string
  body: string
  user: string
  created_at: string
  edited_at: string | null
  changed_at: string
  labels: string[]
  comments: number
}

/** When a review of a remark was sent. */
export const sentAt = (
  state: FakeState,
  { review_id, created_at }: { review_id: number; created_at: string },
): string => state.reviews.find(({ id }) => id === review_id)?.submitted_at ?? created_at

/**
 * Issues and pull requests, and whatever has a comment: each change updates its time, and a remark appears
 * when its review is sent.
 */
export function subjectsOf(state: FakeState): FakeSubject[] {
  const of = (number: number) => {
    const pull = state.pulls.find(one => one.number === number)
    const issue = pull ?? state.issues.find(one => one.number === number)
    const {
      title = 'It is broken',
      body = 'It breaks.',
      user = 'ada',
      created_at = LONG_AGO,
      edited_at = null,
    } = issue ?? {}
    const on = <T extends { number: number }>(rows: T[]) => rows.filter(row => row.number === number)
    const labelings = on(state.labelings)
    const changed_at = latest(
      ...[created_at, edited_at ?? created_at, ...labelings.map(({ at }) => at)],
      ...on(state.renamings).map(({ at }) => at),
      ...on(state.comments).map(comment => comment.created_at ?? created_at),
      ...on(state.reviews).map(({ submitted_at }) => submitted_at),
      ...on(state.remarks).map(remark => sentAt(state, remark)),
    )
    const labels = [...new Set(labelings.map(({ label }) => label))].filter(
      label => labelings.findLast(one => one.label === label)?.given === true,
    )
    const comments = on(state.comments).length
    return {
      number,
      is_pull: pull !== undefined,
      title,
      body,
      user,
      created_at,
      edited_at,
      changed_at,
      labels,
      comments,
    }
  }
  const numbers = new Set([...state.pulls, ...state.issues, ...state.comments].map(({ number }) => number))
  return [...numbers].map(of)
}

const person = (base: Json, login: string): Json => ({
  ...base,
  login,
  type: login.endsWith('[bot]') ? 'Bot' : 'User',
})

/** What GitHub reports about issues, their comments and events. */
export function subjectOperations(state: FakeState): Record<string, (request: FakeRequest) => ForgeResponse> {
  const issueObject = (subject: FakeSubject): Json => {
    const [base] = exampleOf('GET', '/repos/{owner}/{repo}/issues', 200)
    const { number, is_pull, title, body, user, created_at, changed_at, labels, comments } = subject
    const { pull_request, ...rest } = base
    return {
      ...rest,
      id: 900 + number,
      node_id: is_pull ? `PR_${number}` : `I_${number}`,
      number,
      title,
      body,
      comments,
      created_at,
      updated_at: changed_at,
      user: person(base.user, user),
      labels: labels.map(name => ({ ...base.labels[0], name })),
      ...(is_pull && { pull_request }),
      html_url: `${state.origin}/${state.owner}/${state.repo}/${is_pull ? 'pull' : 'issues'}/${number}`,
    }
  }
  const reviews = '/repos/{owner}/{repo}/pulls/{pull_number}/reviews'
  const remarks = '/repos/{owner}/{repo}/pulls/{pull_number}/comments'
  const events = '/repos/{owner}/{repo}/issues/{issue_number}/events'
  return {
    'GET /repos/{owner}/{repo}/issues': request => {
      const { query } = request
      if (query.get('state') !== 'all' || query.get('sort') !== 'updated' || query.get('direction') !== 'asc')
        throw new Error('only all, by when they changed, are played here')
      const found = subjectsOf(state)
        .filter(bySince(request, ({ changed_at }) => changed_at))
        .sort((a, b) => Date.parse(a.changed_at) - Date.parse(b.changed_at))
      const { rows, link } = page(request, `${state.api}/issues`, found)
      return list({ rows: rows.map(issueObject), link })
    },
    'GET /repos/{owner}/{repo}/issues/{issue_number}': ({ params }) => {
      const found = subjectsOf(state).find(({ number }) => String(number) === params.issue_number)
      return found
        ? { status: 200, body: issueObject(found) }
        : { status: 404, body: { message: 'Not Found' } }
    },
    [`GET ${events}`]: request => {
      const [base] = exampleOf('GET', events, 200)
      const on = <T extends { number: number }>(rows: T[]) =>
        rows.filter(({ number }) => String(number) === request.params.issue_number)
      const done = (id: number, user: string, at: string, event: string, more: Json) => ({
        ...base,
        id,
        event,
        created_at: at,
        commit_id: null,
        commit_url: null,
        actor: person(base.actor, user),
        label: undefined,
        ...more,
      })
      const rows = [
        ...on(state.labelings).map(({ id, user, label, given, at }) =>
          done(id, user, at, given ? 'labeled' : 'unlabeled', { label: { name: label, color: 'f29513' } }),
        ),
        ...on(state.renamings).map(({ id, user, at }) =>
          done(id, user, at, 'renamed', { rename: { from: 'Before', to: 'It is broken' } }),
        ),
      ].sort((a, b) => a.id - b.id)
      return list(page(request, `${state.api}/issues/${request.params.issue_number}/events`, rows))
    },
    [`GET ${reviews}`]: request => {
      const [base] = exampleOf('GET', reviews, 200)
      const found = state.reviews.filter(({ number }) => String(number) === request.params.pull_number)
      const rows = found.map(({ id, user, body, submitted_at }) => ({
        ...base,
        id,
        node_id: `PRR_${id}`,
        body,
        submitted_at,
        user: person(base.user, user),
      }))
      return list(page(request, `${state.api}/pulls/${request.params.pull_number}/reviews`, rows))
    },
    [`GET ${remarks}`]: request => {
      const [base] = exampleOf('GET', remarks, 200)
      const found = state.remarks
        .filter(({ number }) => String(number) === request.params.pull_number)
        .map(remark => {
          const { id, review_id, user, body, created_at, edited_at } = remark
          return {
            ...base,
            id,
            node_id: `PRRC_${id}`,
            pull_request_review_id: review_id,
            body,
            created_at,
            user: person(base.user, user),
            updated_at: edited_at ?? sentAt(state, remark),
          }
        })
        .filter(bySince(request, ({ updated_at }) => updated_at))
      return list(page(request, `${state.api}/pulls/${request.params.pull_number}/comments`, found))
    },
  }
}

const QUERY = 'query($ids: [ID!]!) { nodes(ids: $ids) { ... on Comment { publishedAt lastEditedAt } } }'

/** The one query that the service knows, to the letter; null: it is another. */
export function publications(
  state: FakeState,
  query: string,
  { ids }: { ids?: string[] },
): ForgeResponse | null {
  if (query !== QUERY || ids === undefined || ids.length === 0 || ids.length > 100) return null
  const of = (id: string): Json => {
    const [kind, number] = [id.split('_')[0], Number(id.split('_')[1])]
    const find = <T extends { id: number }>(rows: T[]) => rows.find(row => row.id === number)
    const text = (publishedAt: string | undefined, lastEditedAt: string | null | undefined) =>
      publishedAt === undefined ? null : { publishedAt, lastEditedAt: lastEditedAt ?? null }
    const subject = subjectsOf(state).find(one => one.number === number)
    const [comment, review, remark] = [find(state.comments), find(state.reviews), find(state.remarks)]
    if (kind === 'I' || kind === 'PR') return text(subject?.created_at, subject?.edited_at)
    if (kind === 'IC')
      return text(
        comment?.created_at,
        comment?.updated_at === comment?.created_at ? null : comment?.updated_at,
      )
    if (kind === 'PRR') return text(review?.submitted_at, review?.edited_at)
    return kind === 'PRRC' && remark ? text(sentAt(state, remark), remark.edited_at) : null
  }
  const nodes = ids.map(of)
  const errors = nodes.flatMap((node, i) =>
    node === null
      ? [
          {
            type: 'NOT_FOUND',
            path: ['nodes', i],
            message: `Could not resolve to a node with the global id of '${ids[i]}'`,
          },
        ]
      : [],
  )
  return { status: 200, body: { data: { nodes }, ...(errors.length > 0 && { errors }) } }
}
