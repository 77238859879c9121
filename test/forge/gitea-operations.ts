import type { FakeComment, FakePull, FakeState, FakeStatus } from './fake-state.ts'
import { whole } from './gitea-description.ts'
import { giteaSubjectOperations } from './gitea-subjects.ts'
import type { GiteaRequest, GiteaResponse, GiteaSet } from './gitea-wire.ts'

// biome-ignore lint/suspicious/noExplicitAny: responses have many shapes
type Json = any

const BOT = { id: 7, login: 'agent-bot' }
const WHEN = '2026-11-22T10:00:00Z'
const no = (status: number, message: string): GiteaResponse => ({
  status,
  body: { message, url: 'https://git.example.org/api/swagger' },
})
const isDraft = ({ title }: FakePull) => /^\s*(wip:|\[wip\])/i.test(title)

/** What Gitea does, by operation. */
export function giteaOperations(
  state: FakeState,
  set: GiteaSet,
): Record<string, (request: GiteaRequest) => GiteaResponse> {
  const repository = (full_name = `${state.owner}/${state.repo}`) =>
    whole('Repository', {
      full_name,
      name: full_name.split('/')[1],
      default_branch: 'main',
      private: true,
      clone_url: 'https://elsewhere/x.git',
    })

  /** Its own numbers where they count: it never gives more than it is set to. */
  function page<T>({ query }: GiteaRequest, path: string, all: T[], body: (row: T) => Json): GiteaResponse {
    const size = Math.min(set.most_per_page, Number(query.get('limit') ?? 30))
    const n = Number(query.get('page') ?? 1)
    const last = Math.max(1, Math.ceil(all.length / size))
    const link =
      n < last
        ? `<${state.origin}/api/v1${path}?limit=${size}&page=${n + 1}>; rel="next"`
        : `<${state.origin}>; rel="first"`
    return {
      status: 200,
      body: all.slice((n - 1) * size, n * size).map(body),
      headers: {
        ...(set.counts_by === 'link' && last > 1 && { link }),
        ...(set.counts_by !== 'neither' && { 'x-total-count': String(all.length) }),
      },
    }
  }

  const pullObject = (pull: FakePull): Json => {
    const merged = pull.merged_sha !== null
    const head = state.sha(pull.head)
    const end = (label: string, ref: string, sha: string | null, repo_id = 1) =>
      whole('PRBranchInfo', { label, ref, sha: sha ?? '', repo_id, repo: repository() })
    const { draft: _draft, ...object } = whole('PullRequest', {
      id: 1_000 + pull.number,
      number: pull.number,
      title: pull.title,
      body: pull.body,
      state: pull.state,
      user: whole('User', BOT),
      html_url: `${state.origin}/${state.owner}/${state.repo}/pulls/${pull.number}`,
      merged,
      created_at: WHEN,
      updated_at: WHEN,
      // False for drafts, as in Gitea.
      mergeable: pull.state === 'open' && !isDraft(pull),
      merged_at: merged ? WHEN : null,
      base: end(pull.base, pull.base, state.sha(pull.base)),
      head: end(
        pull.head,
        head === null ? `refs/pull/${pull.number}/head` : pull.head,
        head,
        pull.of_fork ? 2 : 1,
      ),
    })
    return {
      ...object,
      merge_commit_sha: pull.merged_sha ?? '',
      ...(set.reports_draft && { draft: isDraft(pull) }),
    }
  }

  const commentObject = ({
    id,
    number,
    user,
    body,
    created_at = new Date().toISOString(),
    updated_at = created_at,
  }: FakeComment): Json =>
    whole('Comment', {
      id,
      body,
      created_at,
      updated_at,
      html_url: `${state.origin}/acme/app/issues/${number}#issuecomment-${id}`,
      ...(state.pulls.some(pull => pull.number === number)
        ? { pull_request_url: `${state.origin}/acme/app/pulls/${number}`, issue_url: '' }
        : { issue_url: `${state.origin}/acme/app/issues/${number}`, pull_request_url: '' }),
      user: whole(
        'User',
        user === BOT.login ? BOT : { id: user.endsWith('-actions') ? -2 : 99, login: user },
      ),
    })

  const one = ({ params }: GiteaRequest, work: (pull: FakePull) => GiteaResponse): GiteaResponse => {
    const pull = state.pulls.find(({ number }) => number === Number(params.index))
    return pull ? work(pull) : no(404, "The target couldn't be found.")
  }
  const taken = (head: string, base: string) =>
    state.pulls.some(pull => pull.state === 'open' && pull.head === head && pull.base === base)
  const exists = (head: string, base: string) =>
    no(
      409,
      `pull request already exists for these targets [id: 1, head_branch: ${head}, base_branch: ${base}]`,
    )
  const pulls = '/repos/{owner}/{repo}/pulls'

  return {
    ...giteaSubjectOperations(state, page),
    'GET /user': () => ({ status: 200, body: whole('User', BOT) }),
    'GET /user/repos': request => {
      const names = ['acme/app', ...Array.from({ length: 130 }, (_, i) => `acme/other-${i}`)]
      return page(request, '/user/repos', names, repository)
    },
    [`GET ${pulls}`]: request => {
      const wanted = request.query.get('state') ?? 'open'
      const found = state.pulls
        .filter(pull => wanted === 'all' || pull.state === wanted)
        .sort((a, b) => b.number - a.number)
      return page(request, '/repos/acme/app/pulls', found, pullObject)
    },
    [`POST ${pulls}`]: ({ body }) => {
      if (state.sha(body.head) === null || state.sha(body.base) === null)
        return no(404, "The target couldn't be found.")
      if (body.head === body.base)
        return no(422, 'Invalid PullRequest: There are no changes between the head and the base')
      if (taken(body.head, body.base)) return exists(body.head, body.base)
      const { title, body: text = '', head, base } = body
      const number = 100 + state.pulls.length
      const made = { user: BOT.login, created_at: new Date().toISOString() }
      const pull: FakePull = {
        number,
        state: 'open',
        draft: false,
        merged_sha: null,
        title,
        body: text,
        head,
        base,
        ...made,
      }
      state.pulls.push(pull)
      return { status: 201, body: pullObject(pull) }
    },
    [`GET ${pulls}/{index}`]: request => one(request, pull => ({ status: 200, body: pullObject(pull) })),
    [`PATCH ${pulls}/{index}`]: request =>
      one(request, pull => {
        const { title, body, state: to, base } = request.body
        if (to !== undefined && pull.merged_sha !== null)
          return no(412, 'cannot change state of this pull request, it was already merged')
        if (to === 'open' && pull.state === 'closed' && taken(pull.head, pull.base))
          return exists(pull.head, pull.base)
        if (base && state.sha(base) === null) return no(404, `new base '${base}' not exist`)
        // An empty title is ignored.
        Object.assign(pull, {
          ...(title && { title }),
          ...(body !== undefined && { body }),
          ...(to && { state: to }),
          ...(base && { base }),
        })
        return { status: 201, body: pullObject(pull) }
      }),
    [`POST ${pulls}/{index}/merge`]: request =>
      one(request, pull => {
        if (pull.merged_sha !== null) return no(405, '')
        if (pull.state !== 'open') return no(404, "The target couldn't be found.")
        if (isDraft(pull)) return no(405, 'Work in progress PRs cannot be merged')
        if (request.body.head_commit_id && request.body.head_commit_id !== state.sha(pull.head))
          return no(409, 'head out of date')
        state.merge(
          pull,
          [request.body.MergeTitleField, request.body.MergeMessageField].filter(Boolean).join('\n\n'),
        )
        return { status: 200 }
      }),
    'GET /repos/{owner}/{repo}/issues/{index}/comments': ({ params, query }) => {
      const since = query.get('since')
      const found = state.comments.filter(
        ({ number, created_at }) =>
          number === Number(params.index) &&
          (since === null || created_at === undefined || created_at >= since),
      )
      return {
        status: 200,
        body: found.map(commentObject),
        headers: { 'x-total-count': String(found.length) },
      }
    },
    'POST /repos/{owner}/{repo}/issues/{index}/comments': ({ params, body }) => {
      const created_at = new Date().toISOString()
      const comment = {
        id: 5_000 + state.made_comments++,
        number: Number(params.index),
        user: BOT.login,
        body: body.body,
        created_at,
      }
      state.comments.push(comment)
      return { status: 201, body: commentObject(comment) }
    },
    'PATCH /repos/{owner}/{repo}/issues/comments/{id}': ({ params, body }) => {
      const comment = state.comments.find(({ id }) => String(id) === params.id)
      if (!comment) return no(404, "The target couldn't be found.")
      comment.body = body.body
      return { status: 200, body: commentObject(comment) }
    },
    'DELETE /repos/{owner}/{repo}/issues/comments/{id}': ({ params }) => {
      const comment = state.comments.find(({ id }) => String(id) === params.id)
      if (!comment) return no(404, "The target couldn't be found.")
      state.comments = state.comments.filter(one => one !== comment)
      return { status: 204 }
    },
    'GET /repos/{owner}/{repo}/statuses/{sha}': request => {
      const found = state.statuses
        .flatMap((status, i) => (status.sha === request.params.sha ? [{ status, id: i + 1 }] : []))
        .reverse()
      return page(request, `/repos/acme/app/statuses/${request.params.sha}`, found, ({ status, id }) =>
        statusObject(status, id),
      )
    },
    'POST /repos/{owner}/{repo}/statuses/{sha}': ({ params, body }) => {
      const { context, state: to, description, target_url } = body
      state.statuses.push({
        sha: params.sha ?? '',
        context,
        state: to,
        description,
        target_url,
        creator: BOT.login,
      })
      return {
        status: 201,
        body: statusObject(state.statuses[state.statuses.length - 1] as FakeStatus, state.statuses.length),
      }
    },
    'GET /repos/{owner}/{repo}/collaborators/{collaborator}/permission': ({ params }) => {
      const login = params.collaborator ?? ''
      if (!set.is_repository_admin)
        return no(403, 'Only admins can query all permissions, repo admins can query all repo permissions')
      const permission = state.permissions.get(login)
      if (permission === undefined) return no(404, `user does not exist [uid: 0, name: ${login}]`)
      return {
        status: 200,
        body: whole('RepoCollaboratorPermission', {
          permission,
          role_name: permission,
          user: whole('User', { login }),
        }),
      }
    },
  }

  function statusObject(
    { context, state: status, description, target_url = '', creator = 'ci' }: FakeStatus,
    id: number,
  ): Json {
    const at = new Date(Date.parse(WHEN) + id * 1_000).toISOString()
    return whole('CommitStatus', {
      id,
      context,
      status,
      description,
      target_url,
      created_at: at,
      updated_at: at,
      creator: whole('User', { login: creator }),
    })
  }
}
