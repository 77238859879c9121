import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { ForgeError, type RemoteComment, type RemoteForge, type RemotePullRequest, type RemoteState } from '../port.ts'
import { cut } from '../texts.ts'
import { checksOf, markStatus } from './checks.ts'
import { GiteaClient, type GiteaSettings } from './client.ts'
import { isMarked, markedTitle, plainTitle } from './draft-title.ts'
import { listMentions } from './mentions.ts'
import { Account, Comment, Permission, PullRequest, Repository, Status } from './shapes.ts'
import { getSubject, listChanged } from './subjects.ts'

const TITLE_CHARS = 250
const BODY_CHARS = 65_536
/** Closed ones that are looked through for a branch, those that changed last first: what was just made is among them. */
const PAGES_OF_CLOSED = 6

/** A login as it can be one there, and part of a path. */
const LOGIN = /^(?!\.+$)[\w.-]{1,100}$/

const at = ({ owner, name }: ForgeRepository) => `/repos/${encodeURIComponent(owner)}/${encodeURIComponent(name)}`

function stateOf({ merged, merge_commit_sha, state, draft, title }: PullRequest): RemoteState {
  if (merged && merge_commit_sha !== '') return 'merged'
  if (state !== 'open') return 'closed'
  return draft || isMarked(title) ? 'draft' : 'open'
}

function remotePullRequest(pr: PullRequest): RemotePullRequest {
  const state = stateOf(pr)
  return {
    node_id: null,
    ...{ number: pr.number, url: pr.html_url, state, title: plainTitle(pr.title), body: pr.body },
    // `ref` is no branch any more where that was deleted; `label` always is.
    ...{ head_branch: pr.head.label || pr.head.ref, head_sha: pr.head.sha, base_branch: pr.base.ref, base_sha: pr.base.sha },
    ...{ merge_sha: state === 'merged' ? pr.merge_commit_sha : null, merged_at: state === 'merged' ? (pr.merged_at ?? null) : null },
    // It says no of drafts too, and while it does not know.
    mergeable: pr.mergeable ? 'clean' : 'unknown',
  }
}

const remoteComment = ({ id, html_url, user, body, created_at, updated_at }: Comment): RemoteComment => ({
  ...{ id, url: html_url, author: user?.login ?? '', body, created_at, edited: updated_at.getTime() !== created_at.getTime() },
  // Its own actions, and accounts that were deleted, have numbers below one.
  ...{ is_bot: (user?.id ?? 0) < 1, author_association: '' },
})

/** Gitea and Forgejo by the API that they share. */
export function giteaForge(settings: GiteaSettings): RemoteForge {
  const client = new GiteaClient(settings)
  const pull = (repo: ForgeRepository, number: number) => `${at(repo)}/pulls/${number}`
  const getPull = (repo: ForgeRepository, number: number) => client.get(PullRequest, pull(repo, number))

  async function firstOf(repo: ForgeRepository, head_branch: string, query: Record<string, string>, most?: number) {
    for await (const page of client.pages(PullRequest, `${at(repo)}/pulls`, query, most)) {
      const found = page.find(({ head, base }) => (head.label || head.ref) === head_branch && head.repo_id === base.repo_id)
      if (found) return found
    }
    return null
  }

  const statusesAt = (repo: ForgeRepository, sha: string) => `${at(repo)}/statuses/${encodeURIComponent(sha)}`
  async function listStatuses(repo: ForgeRepository, sha: string): Promise<Status[]> {
    const all = []
    for await (const page of client.pages(Status, statusesAt(repo, sha))) all.push(...page)
    return all
  }

  const identity = async () => ({ login: (await client.get(Account, '/user')).login, app: null })
  let own_login = settings.identity?.login ?? null
  /** As it was said first: a token is always of the same account. */
  async function ownLogin(): Promise<string> {
    own_login ??= (await identity()).login
    return own_login
  }

  return {
    kind: 'gitea',
    identity,

    async gitCredentials() {
      return { username: await ownLogin(), password: settings.token, expires_at: null }
    },

    async findPullRequest(repo, head_branch) {
      const found =
        (await firstOf(repo, head_branch, { state: 'open' })) ??
        (await firstOf(repo, head_branch, { state: 'closed', sort: 'recentupdate' }, PAGES_OF_CLOSED))
      return found && remotePullRequest(found)
    },

    getPullRequest: async (repo, number) => remotePullRequest(await getPull(repo, number)),

    async createPullRequest(repo, { title, body, head_branch, base_branch, draft }) {
      const input = {
        title: cut(markedTitle(title, draft), TITLE_CHARS),
        body: cut(body, BODY_CHARS),
        head: head_branch,
        base: base_branch,
      }
      try {
        return remotePullRequest(await client.send(PullRequest, 'POST', `${at(repo)}/pulls`, input))
      } catch (error) {
        if (!(error instanceof ForgeError) || error.http_status !== 409) throw error
        throw new ForgeError('refused', `A pull request of that branch already exists. ${error.message}`, { http_status: 409 })
      }
    },

    async updatePullRequest(repo, number, { title, body, base_branch, state }) {
      const is = title === undefined ? null : await getPull(repo, number)
      const marked = is !== null && (is.draft || isMarked(is.title))
      const change = {
        ...(title !== undefined && { title: cut(marked ? markedTitle(title, true) : title, TITLE_CHARS) }),
        ...(body !== undefined && { body: cut(body, BODY_CHARS) }),
        ...(base_branch !== undefined && { base: base_branch }),
        ...(state !== undefined && { state }),
      }
      return remotePullRequest(await client.send(PullRequest, 'PATCH', pull(repo, number), change))
    },

    async setDraft(repo, { number, title: plain }, draft) {
      const title = cut(markedTitle(plain, draft), TITLE_CHARS)
      const after = await client.send(PullRequest, 'PATCH', pull(repo, number), { title })
      if (!draft && after.draft) throw new ForgeError('refused', 'Gitea keeps it a draft, for a word in its title that is not known here.')
    },

    async mergePullRequest(repo, number, { method, head_sha, message }) {
      const [title = '', ...rest] = message.split('\n')
      const words = { MergeTitleField: title, MergeMessageField: rest.join('\n').trim() }
      await client.nothing('POST', `${pull(repo, number)}/merge`, { Do: method, head_commit_id: head_sha, ...words })
      const merged = await getPull(repo, number)
      if (stateOf(merged) !== 'merged') throw new ForgeError('conflict', 'Gitea did not merge it.')
      return { merge_sha: merged.merge_commit_sha }
    },

    async createComment(repo, number, body) {
      const path = `${at(repo)}/issues/${number}/comments`
      return remoteComment(await client.send(Comment, 'POST', path, { body: cut(body, BODY_CHARS) }))
    },

    async updateComment(repo, id, body) {
      await client.send(Comment, 'PATCH', `${at(repo)}/issues/comments/${id}`, { body: cut(body, BODY_CHARS) })
    },

    async deleteComment(repo, id) {
      try {
        await client.nothing('DELETE', `${at(repo)}/issues/comments/${id}`)
      } catch (error) {
        if (!(error instanceof ForgeError) || error.code !== 'not_found') throw error
      }
    },

    async listComments(repo, number) {
      return (await client.get(Comment.array(), `${at(repo)}/issues/${number}/comments`)).map(remoteComment)
    },

    listChanged: (repo, since) => listChanged(client, at(repo), since),
    getSubject: (repo, number) => getSubject(client, at(repo), number),
    listMentions: (repo, subject, of) => listMentions(client, at(repo), subject, of),

    async listChecks(repo, sha) {
      try {
        const statuses = await listStatuses(repo, sha)
        return { checks: statuses.length === 0 ? [] : checksOf(statuses, settings.url, await ownLogin()), gaps: [] }
      } catch (error) {
        if (!(error instanceof ForgeError) || error.code !== 'forbidden') throw error
        return { checks: [], gaps: [{ resource: 'commit_statuses', detail: error.message }] }
      }
    },

    async markCommit(repo, sha, mark) {
      const status = markStatus(await listStatuses(repo, sha), await ownLogin(), mark)
      if (status !== null) await client.send(Status, 'POST', statusesAt(repo, sha), status)
    },

    async permissionOf(repo, login) {
      if (!LOGIN.test(login)) return 'none'
      try {
        const { permission } = await client.get(Permission, `${at(repo)}/collaborators/${login}/permission`)
        if (permission === 'owner') return 'admin'
        return permission === 'admin' || permission === 'write' || permission === 'read' ? permission : 'none'
      } catch (error) {
        if (error instanceof ForgeError && error.code === 'not_found') return 'none'
        throw error
      }
    },

    async listRepositories(limit) {
      const rows = []
      for await (const page of client.pages(Repository, '/user/repos')) {
        rows.push(...page)
        if (rows.length >= limit) break
      }
      return rows.slice(0, limit).map(({ full_name, default_branch, private: hidden, archived }) => ({
        ...{ full_name, url: `${settings.url}/${full_name}.git`, private: hidden ?? false },
        ...{ default_branch: default_branch || null, archived: archived ?? false },
      }))
    },
  }
}
