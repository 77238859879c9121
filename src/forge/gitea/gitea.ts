import type { ForgeRepository } from '../../core/forges/forge-address.ts'
import { ForgeError, type RemoteForge } from '../port.ts'
import { checksOf, markStatus } from './checks.ts'
import { GiteaClient, type GiteaSettings } from './client.ts'
import { createComment, deleteComment, listComments, updateComment } from './comments.ts'
import { listMentions } from './mentions.ts'
import { pathOf } from './paths.ts'
import {
  createPullRequest,
  findPullRequest,
  getPullRequest,
  mergePullRequest,
  setDraft,
  updatePullRequest,
} from './pull-requests.ts'
import { listRepositories, permissionOf } from './repositories.ts'
import { Account, Status } from './shapes.ts'
import { getSubject, listChanged } from './subjects.ts'

const statusesAt = (repo: ForgeRepository, sha: string) =>
  `${pathOf(repo)}/statuses/${encodeURIComponent(sha)}`

async function listStatuses(client: GiteaClient, repo: ForgeRepository, sha: string): Promise<Status[]> {
  const all = []
  for await (const page of client.pages(Status, statusesAt(repo, sha))) all.push(...page)
  return all
}

/** Returns the port to Gitea and Forgejo by the API that they share. */
export function giteaForge(settings: GiteaSettings): RemoteForge {
  const client = new GiteaClient(settings)
  const identity = async () => ({ login: (await client.get(Account, '/user')).login, app: null })
  let own_login = settings.identity?.login ?? null
  // A token always belongs to the same account.
  const ownLogin = async (): Promise<string> => {
    own_login ??= (await identity()).login
    return own_login
  }
  return {
    kind: 'gitea',
    identity,
    gitCredentials: async () => ({ username: await ownLogin(), password: settings.token, expires_at: null }),
    findPullRequest: (repo, head_branch) => findPullRequest(client, repo, head_branch),
    getPullRequest: (repo, number) => getPullRequest(client, repo, number),
    createPullRequest: (repo, pr) => createPullRequest(client, repo, pr),
    updatePullRequest: (repo, number, change) => updatePullRequest(client, repo, number, change),
    setDraft: (repo, pr, draft) => setDraft(client, repo, pr, draft),
    mergePullRequest: (repo, number, input) => mergePullRequest(client, repo, number, input),
    createComment: (repo, number, body) => createComment(client, repo, number, body),
    updateComment: (repo, id, body) => updateComment(client, repo, id, body),
    deleteComment: (repo, id) => deleteComment(client, repo, id),
    listComments: (repo, number) => listComments(client, repo, number),
    listChanged: (repo, since) => listChanged(client, pathOf(repo), since),
    getSubject: (repo, number) => getSubject(client, pathOf(repo), number),
    listMentions: (repo, subject, query) => listMentions(client, pathOf(repo), subject, query),
    async listChecks(repo, sha) {
      try {
        const statuses = await listStatuses(client, repo, sha)
        return {
          checks: statuses.length === 0 ? [] : checksOf(statuses, settings.url, await ownLogin()),
          gaps: [],
        }
      } catch (error) {
        if (!(error instanceof ForgeError) || error.code !== 'forbidden') throw error
        return { checks: [], gaps: [{ resource: 'commit_statuses', detail: error.message }] }
      }
    },
    async markCommit(repo, sha, mark) {
      const status = markStatus(await listStatuses(client, repo, sha), await ownLogin(), mark)
      if (status !== null) await client.send(Status, 'POST', statusesAt(repo, sha), status)
    },
    permissionOf: (repo, login) => permissionOf(client, repo, login),
    listRepositories: limit => listRepositories(client, settings.url, limit),
  }
}
