import { exampleOf } from './description.ts'
import type { FakePull, FakeState } from './fake-state.ts'

// biome-ignore lint/suspicious/noExplicitAny: requests were checked by the description
type Json = any
export type FakeRequest = {
  params: Record<string, string>
  query: URLSearchParams
  body: Json
  login: string
}
export type ForgeResponse = { status: number; body: Json; link?: string }

const no = (status: number, message: string, errors?: Json[]): ForgeResponse => ({
  status,
  body: {
    message,
    documentation_url: 'https://docs.github.com/rest',
    status: String(status),
    ...(errors && { errors }),
  },
})

/** One page of a list, with the `Link` that GitHub adds. */
export function page<T>(
  request: FakeRequest,
  url: string,
  all: T[],
): { rows: T[]; link: string | undefined } {
  const size = Math.min(100, Number(request.query.get('per_page') ?? 30))
  const n = Number(request.query.get('page') ?? 1)
  const last = Math.max(1, Math.ceil(all.length / size))
  const to = (number: number, rel: string) => `<${url}?per_page=${size}&page=${number}>; rel="${rel}"`
  return {
    rows: all.slice((n - 1) * size, n * size),
    link: n < last ? `${to(n + 1, 'next')}, ${to(last, 'last')}` : undefined,
  }
}

export const list = (
  { rows, link }: { rows: Json[]; link: string | undefined },
  body: Json = rows,
): ForgeResponse => ({
  status: 200,
  body,
  ...(link && { link }),
})

/** What GitHub does, by operation of its description. */
export function fakeOperations(state: FakeState): Record<string, (request: FakeRequest) => ForgeResponse> {
  const pulls = '/repos/{owner}/{repo}/pulls'
  const one = (request: FakeRequest, work: (pull: FakePull) => ForgeResponse): ForgeResponse => {
    const pull = state.pulls.find(({ number }) => number === Number(request.params.pull_number))
    return pull ? work(pull) : no(404, 'Not Found')
  }
  const whole = (pull: FakePull, status = 200): ForgeResponse => ({
    status,
    body: state.pullObject(pull, 'whole'),
  })
  return {
    [`GET ${pulls}`]: request => {
      const { query } = request
      const head = query.get('head')
      const wanted = query.get('state') ?? 'open'
      const found = state.pulls
        .filter(pull => head === null || head === `${state.owner}:${pull.head}`)
        .filter(pull => wanted === 'all' || pull.state === wanted)
        .sort((a, b) => (query.get('direction') === 'asc' ? a.number - b.number : b.number - a.number))
      return list(
        page(
          request,
          `${state.api}/pulls`,
          found.map(pull => state.pullObject(pull, 'simple')),
        ),
      )
    },
    [`POST ${pulls}`]: ({ body }) => {
      if (body.draft && !state.drafts_allowed)
        return no(422, 'Draft pull requests are not supported in this repository.')
      const missing = (['head', 'base'] as const).find(field => state.sha(body[field]) === null)
      if (missing)
        return no(422, 'Validation Failed', [{ resource: 'PullRequest', field: missing, code: 'invalid' }])
      if (
        state.pulls.some(pull => pull.state === 'open' && pull.head === body.head && pull.base === body.base)
      )
        return no(422, 'Validation Failed', [
          {
            resource: 'PullRequest',
            code: 'custom',
            message: `A pull request already exists for ${state.owner}:${body.head}.`,
          },
        ])
      if (state.sha(body.head) === state.sha(body.base))
        return no(422, 'Validation Failed', [
          {
            resource: 'PullRequest',
            code: 'custom',
            message: `No commits between ${body.base} and ${body.head}`,
          },
        ])
      const { title, body: text = '', head, base, draft = false } = body
      const made = { user: 'agent-bot', created_at: new Date().toISOString() }
      const pull: FakePull = {
        number: 100 + state.pulls.length,
        state: 'open',
        merged_sha: null,
        title,
        body: text,
        head,
        base,
        draft,
        ...made,
      }
      state.pulls.push(pull)
      return whole(pull, 201)
    },
    [`GET ${pulls}/{pull_number}`]: request => one(request, pull => whole(pull)),
    [`PATCH ${pulls}/{pull_number}`]: request =>
      one(request, pull => {
        const { title, body, state: to, base } = request.body
        if (to !== undefined && pull.merged_sha !== null)
          return no(422, 'Validation Failed', [{ resource: 'PullRequest', field: 'state', code: 'invalid' }])
        Object.assign(pull, {
          ...(title && { title }),
          ...(body !== undefined && { body }),
          ...(to && { state: to }),
          ...(base && { base }),
        })
        return whole(pull)
      }),
    [`PUT ${pulls}/{pull_number}/merge`]: request =>
      one(request, pull => {
        if (pull.state !== 'open' || pull.draft) return no(405, 'Pull Request is not mergeable')
        if (request.body.sha !== undefined && request.body.sha !== state.sha(pull.head))
          return no(409, 'Head branch was modified. Review and try the merge again.')
        const sha = state.merge(pull, request.body.commit_title ?? 'Merge')
        return { status: 200, body: { sha, merged: true, message: 'Pull Request successfully merged' } }
      }),
    'GET /repos/{owner}/{repo}/issues/{issue_number}/comments': request => {
      const number = Number(request.params.issue_number)
      const since = request.query.get('since')
      const found = state.comments.filter(
        ({ number: of, created_at, updated_at = created_at }) =>
          of === number &&
          (since === null || updated_at === undefined || Date.parse(updated_at) >= Date.parse(since)),
      )
      return list(
        page(
          request,
          `${state.api}/issues/${number}/comments`,
          found.map(comment => state.commentObject(comment)),
        ),
      )
    },
    'POST /repos/{owner}/{repo}/issues/{issue_number}/comments': ({ params, body, login }) => {
      const created_at = new Date().toISOString()
      const comment = {
        id: 5_000 + state.made_comments++,
        number: Number(params.issue_number),
        user: login,
        body: body.body,
        created_at,
      }
      state.comments.push(comment)
      return { status: 201, body: state.commentObject(comment) }
    },
    'PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}': ({ params, body, login }) => {
      const comment = state.comments.find(({ id }) => String(id) === params.comment_id)
      if (!comment) return no(404, 'Not Found')
      if (comment.user !== login) return no(403, 'Resource not accessible')
      comment.body = body.body
      return { status: 200, body: state.commentObject(comment) }
    },
    'DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}': ({ params, login }) => {
      const comment = state.comments.find(({ id }) => String(id) === params.comment_id)
      if (!comment) return no(404, 'Not Found')
      if (comment.user !== login) return no(403, 'Resource not accessible')
      state.comments = state.comments.filter(one => one !== comment)
      return { status: 204, body: null }
    },
    'GET /repos/{owner}/{repo}/commits/{ref}/check-runs': request => {
      const [only, all] = [request.query.get('check_name'), request.query.get('filter') === 'all']
      const found = state.checks
        .map((check, i) => ({ check, object: state.checkObject(check, i + 1) }))
        .filter(({ check }) => check.sha === request.params.ref && (only === null || check.name === only))
        // The newest of each name of an app, unless all are requested; the newest comes first.
        .filter(
          ({ check }, i, of) =>
            all ||
            !of.slice(i + 1).some(later => later.check.name === check.name && later.check.app === check.app),
        )
        .map(({ object }) => object)
      if (all) found.reverse()
      const { rows, link } = page(request, `${state.api}/commits/${request.params.ref}/check-runs`, found)
      return list({ rows, link }, { total_count: found.length, check_runs: rows })
    },
    'GET /repos/{owner}/{repo}/actions/runs': request => {
      const found = state.workflow_runs
        .flatMap((run, i) =>
          run.sha === request.query.get('head_sha') ? [state.workflowRunObject(run, i + 1)] : [],
        )
        .reverse()
      const { rows, link } = page(request, `${state.api}/actions/runs`, found)
      return list({ rows, link }, { total_count: found.length, workflow_runs: rows })
    },
    'GET /repos/{owner}/{repo}/commits/{ref}/statuses': request => {
      const found = state.statuses
        .flatMap((status, i) =>
          status.sha === request.params.ref ? [state.statusObject(status, i + 1)] : [],
        )
        .reverse()
      return list(page(request, `${state.api}/commits/${request.params.ref}/statuses`, found))
    },
    'POST /repos/{owner}/{repo}/statuses/{sha}': ({ params, body, login }) => {
      const { state: reported_state, context = 'default', description = '', target_url } = body
      if (!state.hasCommit(params.sha ?? '')) return no(422, `No commit found for SHA: ${params.sha}`)
      if (description.length > 140)
        return no(422, 'Validation Failed', [{ resource: 'Status', field: 'description', code: 'custom' }])
      state.statuses.push({
        sha: params.sha ?? '',
        context,
        state: reported_state,
        description,
        creator: login,
        target_url,
      })
      const status = state.statuses.at(-1)
      return status
        ? { status: 201, body: state.statusObject(status, state.statuses.length) }
        : no(500, 'nothing was kept')
    },
    'GET /repos/{owner}/{repo}/collaborators/{username}/permission': ({ params }) => {
      const permission = state.permissions.get(params.username ?? '')
      if (!permission) return no(404, 'Not Found')
      const base = exampleOf('GET', '/repos/{owner}/{repo}/collaborators/{username}/permission', 200)
      return {
        status: 200,
        body: {
          ...base,
          permission,
          role_name: permission,
          user: { ...base.user, login: params.username, role_name: permission },
        },
      }
    },
  }
}

/** Requests about GitHub as a whole, by a token or an app. */
export function fakeOwnOperations(
  state: FakeState,
  app: { id: number; slug: string; private_key: string },
  issue: () => { token: string; expires_at: string },
) {
  const repositories = () => {
    const [base] = exampleOf('GET', '/installation/repositories', 200).repositories
    const full_name = `${state.owner}/${state.repo}`
    const extra = Array.from({ length: 130 }, (_, i) => `${state.owner}/other-${i}`)
    return [full_name, ...extra].map((name, i) => ({
      ...base,
      id: i + 1,
      name: name.split('/')[1],
      full_name: name,
      private: true,
      default_branch: 'main',
      html_url: `${state.origin}/${name}`,
      clone_url: `${state.origin}/${name}.git`,
    }))
  }
  const installation = () => ({
    ...exampleOf('GET', '/repos/{owner}/{repo}/installation', 200),
    id: 77,
    app_id: app.id,
    app_slug: app.slug,
  })
  const checksRefused = (login: string): ForgeResponse | null => {
    if (login !== `${app.slug}[bot]`) return no(403, 'You must authenticate via a GitHub App.')
    return state.checks_allowed ? null : no(403, 'Resource not accessible by integration')
  }
  const operations: Record<string, (request: FakeRequest) => ForgeResponse> = {
    'GET /user': ({ login }) => ({ status: 200, body: { ...exampleOf('GET', '/user', 200), login } }),
    'GET /app': () => ({
      status: 200,
      body: { ...exampleOf('GET', '/app', 200), id: app.id, slug: app.slug },
    }),
    'GET /user/repos': request => {
      const [base] = exampleOf('GET', '/user/repos', 200)
      return list(
        page(
          request,
          `${state.origin}/api/v3/user/repos`,
          repositories().map(row => ({ ...base, ...row })),
        ),
      )
    },
    'GET /app/installations': request => {
      const [base] = exampleOf('GET', '/app/installations', 200)
      // The description wants an account to be a user and an enterprise at once.
      const account = {
        ...base.account,
        name: 'acme',
        slug: 'acme',
        created_at: base.created_at,
        updated_at: base.updated_at,
      }
      return list(
        page(request, `${state.origin}/api/v3/app/installations`, [
          { ...base, account, id: 77, app_id: app.id, app_slug: app.slug },
        ]),
      )
    },
    'GET /installation/repositories': request => {
      const all = repositories()
      const { rows, link } = page(request, `${state.origin}/api/v3/installation/repositories`, all)
      return list({ rows, link }, { total_count: all.length, repositories: rows })
    },
    'GET /repos/{owner}/{repo}/installation': () => ({ status: 200, body: installation() }),
    'POST /repos/{owner}/{repo}/check-runs': ({ body, login }) => {
      const refused = checksRefused(login)
      if (refused) return refused
      if (!state.hasCommit(body.head_sha)) return no(422, `No commit found for SHA: ${body.head_sha}`)
      const made = {
        id: 70_000 + state.made_checks++,
        app_id: app.id,
        external_id: body.external_id ?? '',
        details_url: body.details_url ?? '',
      }
      const { name, head_sha: sha, status = 'queued', conclusion = null, output } = body
      const check = {
        sha,
        name,
        app: app.slug,
        status,
        conclusion,
        summary: output.summary,
        made: { ...made, title: output.title },
      }
      state.checks.push(check)
      return { status: 201, body: state.checkObject(check, made.id) }
    },
    'PATCH /repos/{owner}/{repo}/check-runs/{check_run_id}': ({ params, body, login }) => {
      const refused = checksRefused(login)
      if (refused) return refused
      const check = state.checks.find(({ made }) => String(made?.id) === params.check_run_id)
      if (!check?.made) return no(404, 'Not Found')
      // GitHub does not document what happens to one that has ended: do not rely on it.
      if (check.status === 'completed' && body.status !== 'completed')
        return no(422, 'The check run has ended.')
      const { status = check.status, conclusion = null, output, external_id, details_url } = body
      Object.assign(check, { status, conclusion, summary: output.summary })
      Object.assign(check.made, { external_id, details_url, title: output.title })
      return { status: 200, body: state.checkObject(check, check.made.id) }
    },
    'POST /app-manifests/{code}/conversions': ({ params }) => {
      if (params.code !== 'code-of-the-manifest') return no(404, 'Not Found')
      const base = exampleOf('POST', '/app-manifests/{code}/conversions', 201)
      const webhook_secret = 'made-by-github-for-the-webhooks'
      return {
        status: 201,
        body: { ...base, id: app.id, slug: app.slug, pem: app.private_key, webhook_secret },
      }
    },
    'POST /app/installations/{installation_id}/access_tokens': ({ params }) => {
      if (params.installation_id !== '77') return no(404, 'Not Found')
      const base = exampleOf('POST', '/app/installations/{installation_id}/access_tokens', 201)
      return { status: 201, body: { ...base, ...issue() } }
    },
  }
  return operations
}
