import type { FakeState } from './fake-state.ts'
import { type FakeSubject, sentAt, subjectsOf } from './fake-subjects.ts'
import { whole } from './gitea-description.ts'
import type { GiteaRequest, GiteaResponse } from './gitea-wire.ts'

// biome-ignore lint/suspicious/noExplicitAny: responses have many shapes
type Json = any
type Page = <T>(request: GiteaRequest, path: string, all: T[], body: (row: T) => Json) => GiteaResponse

const person = (login: string) =>
  whole('User', { id: login === 'agent-bot' ? 7 : login.endsWith('-actions') ? -2 : 99, login })

/** What Gitea reports about issues, their comments and events. */
export function giteaSubjectOperations(
  state: FakeState,
  page: Page,
): Record<string, (request: GiteaRequest) => GiteaResponse> {
  const issueObject = ({
    number,
    is_pull,
    title,
    body,
    user,
    created_at,
    changed_at,
    labels,
    comments,
  }: FakeSubject): Json =>
    whole('Issue', {
      id: 900 + number,
      number,
      title,
      body,
      comments,
      created_at,
      updated_at: changed_at,
      state: 'open',
      user: person(user),
      labels: labels.map(name => whole('Label', { id: 3, name })),
      pull_request: is_pull ? whole('PullRequestMeta') : null,
      html_url: `${state.origin}/acme/app/${is_pull ? 'pulls' : 'issues'}/${number}`,
    })
  const issue = '/repos/{owner}/{repo}/issues/{index}'
  const reviews = '/repos/{owner}/{repo}/pulls/{index}/reviews'
  return {
    'GET /repos/{owner}/{repo}/issues': request => {
      const [since, before] = ['since', 'before'].map(key => Date.parse(request.query.get(key) ?? '') || null)
      if (request.query.get('state') !== 'all') throw new Error('only all are played here')
      const found = subjectsOf(state)
        .filter(
          ({ changed_at }) =>
            Date.parse(changed_at) >= (since ?? 0) &&
            Date.parse(changed_at) <= (before ?? Number.POSITIVE_INFINITY),
        )
        .sort((a, b) => Date.parse(b.created_at) - Date.parse(a.created_at) || b.number - a.number)
      return page(request, '/repos/acme/app/issues', found, issueObject)
    },
    [`GET ${issue}`]: ({ params }) => {
      const found = subjectsOf(state).find(({ number }) => String(number) === params.index)
      return found
        ? { status: 200, body: issueObject(found) }
        : { status: 404, body: { message: 'no such issue', url: '' } }
    },
    // An empty list is `null`, and its count is of one page: a client that reads pages does not know when
    // they end.
    [`GET ${issue}/timeline`]: ({ params, query }) => {
      if (query.has('page') || query.has('limit')) throw new Error('pages of a timeline cannot be counted')
      const on = <T extends { number: number }>(all: T[]) =>
        all.filter(({ number }) => String(number) === params.index)
      const html_url = `${state.origin}/acme/app/issues/${params.index}#x`
      const entries: Json[] = [
        ...on(state.comments).map(
          ({ id, user, body, created_at = '2026-11-01T10:00:00Z', updated_at = created_at }) => ({
            id,
            type: 'comment',
            body,
            created_at,
            updated_at,
            user: person(user),
          }),
        ),
        ...on(state.reviews).map(({ id, user, body, submitted_at, edited_at = submitted_at }) => ({
          id: 50_000 + id,
          type: 'review',
          review_id: id,
          body,
          created_at: submitted_at,
          updated_at: edited_at,
          user: person(user),
        })),
        ...on(state.labelings).map(({ id, user, label, given, at }) => ({
          id,
          type: 'label',
          body: given ? '1' : '',
          created_at: at,
          updated_at: at,
          user: person(user),
          label: whole('Label', { id: 3, name: label }),
        })),
      ]
      const rows = entries
        .filter(
          ({ updated_at }) =>
            Date.parse(updated_at) >= Date.parse(query.get('since') ?? '2026-11-01T10:00:00Z'),
        )
        .sort((a, b) => Date.parse(a.created_at) - Date.parse(b.created_at) || a.id - b.id)
        .map(row => whole('TimelineComment', { html_url, ...row }))
      return {
        status: 200,
        body: rows.length === 0 ? null : rows,
        headers: { 'x-total-count': String(rows.length) },
      }
    },
    [`GET ${reviews}`]: request => {
      const found = state.reviews.filter(({ number }) => String(number) === request.params.index)
      return page(
        request,
        `/repos/acme/app/pulls/${request.params.index}/reviews`,
        found,
        ({ id, user, body, submitted_at }) =>
          whole('PullReview', {
            id,
            body,
            submitted_at,
            updated_at: submitted_at,
            state: 'COMMENT',
            user: person(user),
            comments_count: state.remarks.filter(({ review_id }) => review_id === id).length,
          }),
      )
    },
    [`GET ${reviews}/{id}/comments`]: ({ params }) => {
      const found = state.remarks.filter(
        remark => String(remark.review_id) === params.id && Date.parse(sentAt(state, remark)) <= Date.now(),
      )
      const rows = found.map(({ id, user, body, created_at, edited_at = created_at }) =>
        whole('PullReviewComment', {
          id,
          body,
          created_at,
          updated_at: edited_at,
          user: person(user),
          pull_request_review_id: Number(params.id),
          html_url: `${state.origin}/acme/app/pulls/${params.index}/files#x`,
        }),
      )
      return { status: 200, body: rows.length === 0 ? null : rows }
    },
  }
}
