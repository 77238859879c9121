import type { ForgeResource } from '../contract/repositories/forge-resources.ts'
import type { ForgeKind } from '../contract/repositories/forges.ts'
import type { ForgeRepository } from '../core/forges/forge-address.ts'
import type { ForgeRequest } from '../core/forges/forge-event.ts'
import type { RunMark } from '../core/forges/run-mark.ts'

/**
 * Why a request to a forge failed.
 * - `unreachable` no response, so its outcome is unknown · `server_error` a failure of the forge (5xx) ·
 *   `rate_limited` wait `retry_after_seconds`
 * - `auth` unknown credentials · `forbidden` they do not suffice · `not_found` no such resource, or none that
 *   they may see
 * - `conflict` the resource's state does not allow it · `refused` invalid input · `answer` the response
 *   cannot be read
 */
export type ForgeErrorCode =
  | 'unreachable'
  | 'server_error'
  | 'rate_limited'
  | 'auth'
  | 'forbidden'
  | 'not_found'
  | 'conflict'
  | 'refused'
  | 'answer'

/** The one error of this port. `message` may be shown: it holds no credential. */
export class ForgeError extends Error {
  override name = 'ForgeError'
  readonly code: ForgeErrorCode
  readonly http_status: number | null
  readonly retry_after_seconds: number | null
  constructor(
    code: ForgeErrorCode,
    message: string,
    details: { http_status?: number | null; retry_after_seconds?: number | null } = {},
  ) {
    super(message)
    this.code = code
    this.http_status = details.http_status ?? null
    this.retry_after_seconds = details.retry_after_seconds ?? null
  }
  /** Whether the same call may succeed later without a change. */
  get retryable(): boolean {
    return this.code === 'unreachable' || this.code === 'server_error' || this.code === 'rate_limited'
  }
}

export type RemoteState = 'open' | 'draft' | 'closed' | 'merged'
export type RemotePullRequest = {
  number: number
  /** Its id in GraphQL; null: the forge has none. */
  node_id: string | null
  url: string
  state: RemoteState
  title: string
  body: string
  head_branch: string
  head_sha: string
  base_branch: string
  base_sha: string
  /** With `merged` alone. */
  merge_sha: string | null
  merged_at: Date | null
  mergeable: 'clean' | 'conflict' | 'unknown'
}
export type PullRequestChange = {
  title?: string
  body?: string
  base_branch?: string
  state?: 'open' | 'closed'
}
export type MergeInput = { method: 'merge' | 'squash'; head_sha: string; message: string }
export type NewRemotePullRequest = {
  title: string
  body: string
  head_branch: string
  base_branch: string
  draft: boolean
}

/** A check run or a commit status, in GitHub's terms. `log_excerpt`: its own output, which is untrusted. */
export type RemoteCheck = {
  name: string
  app: string | null
  status: 'queued' | 'in_progress' | 'completed'
  conclusion: string | null
  url: string | null
  log_excerpt: string
  started_at: Date | null
  completed_at: Date | null
}

/** The readable checks, and what is not readable for lack of a permission, with the forge's message. */
export type RemoteChecks = { checks: RemoteCheck[]; gaps: { resource: ForgeResource; detail: string }[] }

/**
 * The status of a run on a commit. `external_id` identifies the mark, `url` leads to the trace. `before`: the
 * key of the mark that is shown now; null: no mark; absent: unknown, for instance after a lost response, so
 * that it is read first.
 */
export type CommitMark = RunMark & {
  external_id: string
  url: string
  summary: string
  before?: string | null
}

export type RemoteComment = {
  id: number
  url: string
  author: string
  is_bot: boolean
  author_association: string
  body: string
  created_at: Date
  /** Its text was changed after it was written. */
  edited: boolean
}
/** An issue or a pull request with its own text. They share their numbers. */
export type RemoteSubject = {
  number: number
  is_pull_request: boolean
  url: string
  title: string
  body: string
  author: string
  is_bot: boolean
  author_association: string
  created_at: Date
  /** The last change, including comments, reviews and labels. */
  changed_at: Date
  labels: string[]
  /** How many comments it has. */
  comments: number
}
/**
 * `through`: later changes are missing; null: no change is missing. `clock`: the time of the forge, if it
 * reports that.
 */
export type RemoteChanges = { subjects: RemoteSubject[]; through: Date | null; clock: Date | null }
/** A request to the agent on an issue or pull request. `event` and `id` are those of its webhook delivery. */
export type Mention = {
  by: ForgeRequest['by']
  event:
    | 'issues'
    | 'pull_request'
    | 'issue_comment'
    | 'pull_request_review'
    | 'pull_request_review_comment'
    | 'labeled'
  id: number
  url: string
  author: string
  author_association: string
  body: string
  at: Date
  /** Of a label: it was removed since. */
  withdrawn: boolean
}
/** `name`: of our account there; `withdrawn`: include labels that were removed since. */
export type MentionQuery = { name: string; since: Date; withdrawn: boolean }
export type RemotePermission = 'admin' | 'write' | 'read' | 'none'
export type RemoteListing = {
  full_name: string
  url: string
  default_branch: string | null
  private: boolean
  archived: boolean
}

/**
 * A forge that an organization is connected to, by its API and with the connection's credentials. Every
 * method rejects with ForgeError and nothing else, except for the reason of an abort. Texts of people in its
 * results are untrusted.
 */
export type RemoteForge = {
  readonly kind: ForgeKind
  /** The account of the credentials: its login, and for an app its name too. */
  identity(): Promise<{ login: string; app: string | null }>
  /**
   * Credentials for git over https, valid for at least ten minutes. `expires_at` null: until they are
   * revoked.
   */
  gitCredentials(
    repo: ForgeRepository,
  ): Promise<{ username: string; password: string; expires_at: Date | null }>
  /** The newest pull request of a branch of that repository, in any state; an open one before all others. */
  findPullRequest(repo: ForgeRepository, head_branch: string): Promise<RemotePullRequest | null>
  getPullRequest(repo: ForgeRepository, number: number): Promise<RemotePullRequest>
  /**
   * `refused` while the branch has an open one, which `findPullRequest` returns. A forge without drafts
   * creates an open one.
   */
  createPullRequest(repo: ForgeRepository, pr: NewRemotePullRequest): Promise<RemotePullRequest>
  updatePullRequest(
    repo: ForgeRepository,
    number: number,
    change: PullRequestChange,
  ): Promise<RemotePullRequest>
  /** Of a pull request that was just read. */
  setDraft(repo: ForgeRepository, pr: RemotePullRequest, draft: boolean): Promise<void>
  /** Merges it while its head is `head_sha`; `conflict` otherwise. Returns the commit on the base branch. */
  mergePullRequest(repo: ForgeRepository, number: number, input: MergeInput): Promise<{ merge_sha: string }>
  /** On an issue or a pull request; they share their numbers. */
  createComment(repo: ForgeRepository, number: number, body: string): Promise<RemoteComment>
  /** `id` as in RemoteComment. */
  updateComment(repo: ForgeRepository, id: number, body: string): Promise<void>
  /** Succeeds also where it is deleted already. */
  deleteComment(repo: ForgeRepository, id: number): Promise<void>
  /** Oldest first. */
  listComments(repo: ForgeRepository, number: number): Promise<RemoteComment[]>
  /** Issues and pull requests that have changed since then, the earliest change first. */
  listChanged(repo: ForgeRepository, since: Date): Promise<RemoteChanges>
  getSubject(repo: ForgeRepository, number: number): Promise<RemoteSubject>
  /**
   * Requests to the agent since then, oldest first: mentions in its own text, in a comment, a review or a
   * review comment, and a label of that name. Nothing of bots, nothing that was edited after it was posted,
   * and nothing of ours.
   */
  listMentions(repo: ForgeRepository, subject: RemoteSubject, query: MentionQuery): Promise<Mention[]>
  /**
   * Check runs and statuses of a commit, the newest of each name, without our own marks. A missing permission
   * is a gap and no error.
   */
  listChecks(repo: ForgeRepository, sha: string): Promise<RemoteChecks>
  /** Shows the status of a run among the checks of a commit, as MARK_NAME. Repeated, it changes nothing. */
  markCommit(repo: ForgeRepository, sha: string, mark: CommitMark): Promise<void>
  /** The permission of an account in the repository. Without one: `none`. */
  permissionOf(repo: ForgeRepository, login: string): Promise<RemotePermission>
  /** All that the credentials can see, at most `limit`. */
  listRepositories(limit: number): Promise<RemoteListing[]>
}
