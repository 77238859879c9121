import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { ForgeError, type RemoteComment, type RemoteForge } from '../port.ts'
import { cut } from '../texts.ts'
import { listChecks } from './checks.ts'
import { GitHubClient, type GitHubSettings } from './client.ts'
import { readable } from './failure.ts'
import { markCommit } from './marks.ts'
import { listMentions } from './mentions.ts'
import { allPages } from './pages.ts'
import { remotePullRequest } from './pull-request.ts'
import { getSubject, listChanged } from './subjects.ts'

const TITLE_CHARS = 256
const BODY_CHARS = 65_536

const at = ({ owner, name }: ForgeRepository) => ({ owner, repo: name })

type Comment = {
  id: number | bigint
  html_url: string
  user: { login: string; type: string } | null
  performed_via_github_app?: object | null | undefined
  author_association?: string | undefined
  body?: string | undefined
  created_at: string
  updated_at: string
}

const remoteComment = (row: Comment): RemoteComment => ({
  ...{ id: Number(row.id), url: row.html_url, author: row.user?.login ?? '', body: row.body ?? '' },
  ...{ is_bot: row.user?.type !== 'User' || row.performed_via_github_app != null, author_association: row.author_association ?? '' },
  ...{ created_at: new Date(row.created_at), edited: row.updated_at !== row.created_at },
})

/** GitHub by its REST API; drafts by GraphQL, which alone can change them. */
export function githubForge(settings: GitHubSettings): RemoteForge {
  const client = new GitHubClient(settings)
  async function getPull(repo: ForgeRepository, number: number) {
    const { data } = await client.on(repo, octokit =>
      octokit.request('GET /repos/{owner}/{repo}/pulls/{pull_number}', { ...at(repo), pull_number: number }),
    )
    return remotePullRequest(data)
  }
  const forge: RemoteForge = {
    kind: 'github',

    identity: () => client.askIdentity(),

    async gitCredentials(repo) {
      const { token, expires_at } = await client.gitToken(repo)
      return { username: 'x-access-token', password: token, expires_at }
    },

    async findPullRequest(repo, head_branch) {
      const head = `${repo.owner}:${head_branch}`
      const { data } = await client.on(repo, octokit =>
        octokit.request('GET /repos/{owner}/{repo}/pulls', { ...at(repo), head, state: 'all', sort: 'created', direction: 'desc' }),
      )
      // Whoever changes the name of an account changes what `head` finds: nothing, or everything.
      const own = data.filter(pr => pr.head.ref === head_branch && pr.head.repo?.id === pr.base.repo.id)
      const found = own.find(pr => pr.state === 'open') ?? own[0]
      return found === undefined ? null : remotePullRequest(found)
    },

    getPullRequest: (repo, number) => readable(getPull(repo, number)),

    async createPullRequest(repo, pr) {
      const input = { title: cut(pr.title, TITLE_CHARS), body: cut(pr.body, BODY_CHARS), head: pr.head_branch, base: pr.base_branch }
      const create = (draft: boolean) =>
        client.on(repo, octokit => octokit.request('POST /repos/{owner}/{repo}/pulls', { ...at(repo), ...input, draft }))
      try {
        return remotePullRequest((await create(pr.draft)).data)
      } catch (error) {
        // Private repositories of some plans have no drafts.
        const drafts = pr.draft && error instanceof ForgeError && error.code === 'refused' && /draft/i.test(error.message)
        if (!drafts) throw error
        return remotePullRequest((await create(false)).data)
      }
    },

    async updatePullRequest(repo, number, { title, body, base_branch, state }) {
      const change = {
        ...(title !== undefined && { title: cut(title, TITLE_CHARS) }),
        ...(body !== undefined && { body: cut(body, BODY_CHARS) }),
        ...(base_branch !== undefined && { base: base_branch }),
        ...(state !== undefined && { state }),
      }
      const { data } = await client.on(repo, octokit =>
        octokit.request('PATCH /repos/{owner}/{repo}/pulls/{pull_number}', { ...at(repo), pull_number: number, ...change }),
      )
      return remotePullRequest(data)
    },

    async setDraft(repo, { node_id }, draft) {
      const mutation = draft ? 'convertPullRequestToDraft' : 'markPullRequestReadyForReview'
      const query = `mutation($id: ID!) { ${mutation}(input: { pullRequestId: $id }) { pullRequest { isDraft } } }`
      const answer = await client.on(repo, octokit => octokit.graphql<Record<string, unknown>>(query, { id: node_id }))
      if (typeof answer[mutation] !== 'object') throw new ForgeError('answer', 'GitHub does not say whether it is a draft now.')
    },

    async mergePullRequest(repo, number, { method, head_sha, message }) {
      const [title = '', ...rest] = message.split('\n')
      const words = { commit_title: title, commit_message: rest.join('\n').trim() }
      const { data } = await client.on(repo, octokit =>
        octokit.request('PUT /repos/{owner}/{repo}/pulls/{pull_number}/merge', {
          ...{ ...at(repo), pull_number: number, ...words },
          ...{ merge_method: method, sha: head_sha },
        }),
      )
      if (!data.merged) throw new ForgeError('conflict', `GitHub did not merge it: ${data.message}`)
      return { merge_sha: data.sha }
    },

    async createComment(repo, number, body) {
      const input = { ...at(repo), issue_number: number, body: cut(body, BODY_CHARS) }
      const { data } = await client.on(repo, octokit => octokit.request('POST /repos/{owner}/{repo}/issues/{issue_number}/comments', input))
      return remoteComment(data)
    },

    async updateComment(repo, comment_id, body) {
      const input = { ...at(repo), comment_id, body: cut(body, BODY_CHARS) }
      await client.on(repo, octokit => octokit.request('PATCH /repos/{owner}/{repo}/issues/comments/{comment_id}', input))
    },

    async deleteComment(repo, comment_id) {
      try {
        await client.on(repo, octokit =>
          octokit.request('DELETE /repos/{owner}/{repo}/issues/comments/{comment_id}', { ...at(repo), comment_id }),
        )
      } catch (error) {
        if (!(error instanceof ForgeError) || error.code !== 'not_found') throw error
      }
    },

    async listComments(repo, number) {
      const rows = await allPages(page =>
        client.on(repo, octokit =>
          octokit.request('GET /repos/{owner}/{repo}/issues/{issue_number}/comments', {
            ...at(repo),
            issue_number: number,
            ...page,
          }),
        ),
      )
      return rows.map(remoteComment)
    },

    listChanged: (repo, since) => readable(listChanged(client, repo, since)),
    getSubject: (repo, number) => readable(getSubject(client, repo, number)),
    listMentions: (repo, subject, of) => readable(listMentions(client, repo, subject, of)),

    listChecks: (repo, sha) => readable(listChecks(client, repo, sha)),
    markCommit: (repo, sha, mark) => markCommit(client, repo, sha, mark),

    async permissionOf(repo, login) {
      try {
        const { data } = await client.on(repo, octokit =>
          octokit.request('GET /repos/{owner}/{repo}/collaborators/{username}/permission', { ...at(repo), username: login }),
        )
        const { permission } = data
        return permission === 'admin' || permission === 'write' || permission === 'read' ? permission : 'none'
      } catch (error) {
        if (error instanceof ForgeError && error.code === 'not_found') return 'none'
        throw error
      }
    },

    async listRepositories(limit) {
      const rows = client.isApp
        ? await listInstalled(client, limit)
        : await allPages(page => client.asSelf(octokit => octokit.request('GET /user/repos', { sort: 'full_name', ...page })), limit)
      return rows.slice(0, limit).map(row => ({
        ...{ full_name: row.full_name, url: row.clone_url, private: row.private },
        ...{ default_branch: row.default_branch ?? null, archived: row.archived ?? false },
      }))
    },
  }
  return forge
}

type Installed = { full_name: string; clone_url: string; html_url: string; private: boolean; default_branch: string; archived: boolean }

/** Of every installation of the app, one after the other. */
async function listInstalled(client: GitHubClient, limit: number) {
  const installations = await allPages(page => client.asSelf(octokit => octokit.request('GET /app/installations', page)))
  const all: Installed[] = []
  for (const { id } of installations) {
    if (all.length >= limit) break
    const rows: Installed[] = await allPages(
      page =>
        client.installation(id, async octokit => {
          const { data, headers } = await octokit.request('GET /installation/repositories', page)
          return { headers, data: data.repositories }
        }),
      limit - all.length,
    )
    all.push(...rows)
  }
  return all
}
