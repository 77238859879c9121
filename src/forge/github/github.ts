import type { RemoteForge } from '../port.ts'
import { listChecks } from './checks.ts'
import { GitHubClient, type GitHubSettings } from './client.ts'
import { createComment, deleteComment, listComments, updateComment } from './comments.ts'
import { readableForge } from './failure.ts'
import { markCommit } from './marks.ts'
import { listMentions } from './mentions.ts'
import {
  createPullRequest,
  findPullRequest,
  getPullRequest,
  mergePullRequest,
  setDraft,
  updatePullRequest,
} from './pull-requests.ts'
import { listRepositories, permissionOf } from './repositories.ts'
import { getSubject, listChanged } from './subjects.ts'

/** Returns the port to GitHub by its REST API, and by GraphQL where that alone can do it. */
export function githubForge(settings: GitHubSettings): RemoteForge {
  const client = new GitHubClient(settings)
  return readableForge({
    kind: 'github',
    identity: () => client.verifyIdentity(),
    async gitCredentials(repo) {
      const { token, expires_at } = await client.gitToken(repo)
      return { username: 'x-access-token', password: token, expires_at }
    },
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
    listChanged: (repo, since) => listChanged(client, repo, since),
    getSubject: (repo, number) => getSubject(client, repo, number),
    listMentions: (repo, subject, query) => listMentions(client, repo, subject, query),
    listChecks: (repo, sha) => listChecks(client, repo, sha),
    markCommit: (repo, sha, mark) => markCommit(client, repo, sha, mark),
    permissionOf: (repo, login) => permissionOf(client, repo, login),
    listRepositories: limit => listRepositories(client, limit),
  })
}
