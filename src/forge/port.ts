import type { ForgeResource } from '../contract/repositories/forge-resources.ts'
import type { ForgeKind } from '../contract/repositories/forges.ts'
import type { ForgeRepository } from '../core/forges/forge-address.ts'
import type { ForgeRequest } from '../core/forges/forge-event.ts'
import type { RunMark } from '../core/forges/run-mark.ts'

/**
 * Why a forge did not do something.
 * - `unreachable` no answer: nobody knows whether it was done · `server_error` it failed itself (5xx) · `rate_limited` later, after `retry_after_seconds`
 * - `auth` it does not know our credentials · `forbidden` they do not suffice · `not_found` no such thing, or none that we may see
 * - `conflict` its state does not allow it · `refused` it does not take what was sent · `answer` nobody can read what it answered
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
  constructor(code: ForgeErrorCode, message: string, details: { http_status?: number | null; retry_after_seconds?: number | null } = {}) {
    super(message)
    this.code = code
    this.http_status = details.http_status ?? null
    this.retry_after_seconds = details.retry_after_seconds ?? null
  }
  /** Whether the same call may succeed later without anybody changing anything. */
  get retryable(): boolean {
    return this.code === 'unreachable' || this.code === 'server_error' || this.code === 'rate_limited'
  }
}

export type RemoteState = 'open' | 'draft' | 'closed' | 'merged'
export type RemotePullRequest = {
  number: number
  /** How GraphQL names it; null: the forge has none. */
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
export type NewRemotePullRequest = { title: string; body: string; head_branch: string; base_branch: string; draft: boolean }

/** A check run or a commit status, in GitHub's words. `log_excerpt`: what it says of itself, which may be anything. */
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

/** The checks that are readable, and what is not for lack of a permission, with the forge's message. */
export type RemoteChecks = { checks: RemoteCheck[]; gaps: { resource: ForgeResource; detail: string }[] }

/**
 * How a run stands. `external_id`: what its mark is known by; `url`: where to look for more. `before`: the key of the mark that is there now;
 * null: none is; absent: unknown, for instance after a lost response, so that it is read first.
 */
export type CommitMark = RunMark & { external_id: string; url: string; summary: string; before?: string | null }

export type RemoteComment = {
  id: number
  url: string
  author: string
  is_bot: boolean
  author_association: string
  body: string
  created_at: Date
  /** It says something else than when it was written. */
  edited: boolean
}
/** An issue or a pull request, which share their numbers, and what it says itself. */
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
  /** When anything happened to it last: a comment, a review and a label too. */
  changed_at: Date
  labels: string[]
  /** How many comments it has. */
  comments: number
}
/** `through`: those that changed later are not among them; null: all are. `clock`: what time it was at the forge, if it says that. */
export type RemoteChanges = { subjects: RemoteSubject[]; through: Date | null; clock: Date | null }
/** What somebody asked of us on an issue or pull request. By `event` and `id` it is the same as what was told of it. */
export type Mention = {
  by: ForgeRequest['by']
  event: 'issues' | 'pull_request' | 'issue_comment' | 'pull_request_review' | 'pull_request_review_comment' | 'labeled'
  id: number
  url: string
  author: string
  author_association: string
  body: string
  at: Date
  /** Of a label: it was taken off since. */
  withdrawn: boolean
}
/** `name`: what we are called there; `withdrawn`: labels too that were taken off since. */
export type AskedOf = { name: string; since: Date; withdrawn: boolean }
export type RemoteListing = { full_name: string; url: string; default_branch: string | null; private: boolean; archived: boolean }

/**
 * A forge that an organization is connected to. Everything is by its API and with the connection's credentials; every method rejects with
 * ForgeError and nothing else, but for the reason of an abort. What it answers with texts of people is to be trusted as little as they are.
 */
export type RemoteForge = {
  readonly kind: ForgeKind
  /** Who we are there: the login, and for an app its name too. */
  identity(): Promise<{ login: string; app: string | null }>
  /** What git signs in with over https; good for ten minutes at least. `expires_at` null: until somebody takes it back. */
  gitCredentials(repo: ForgeRepository): Promise<{ username: string; password: string; expires_at: Date | null }>
  /** The newest pull request of a branch of that repository, in whatever state; an open one before all others. */
  findPullRequest(repo: ForgeRepository, head_branch: string): Promise<RemotePullRequest | null>
  getPullRequest(repo: ForgeRepository, number: number): Promise<RemotePullRequest>
  /** Asking twice makes no second one while the first is open: `refused`, and `findPullRequest` has it. A forge without drafts makes an open one. */
  createPullRequest(repo: ForgeRepository, pr: NewRemotePullRequest): Promise<RemotePullRequest>
  updatePullRequest(
    repo: ForgeRepository,
    number: number,
    change: { title?: string; body?: string; base_branch?: string; state?: 'open' | 'closed' },
  ): Promise<RemotePullRequest>
  /** Of a pull request that was just read. */
  setDraft(repo: ForgeRepository, pr: RemotePullRequest, draft: boolean): Promise<void>
  /** Merges it while its head is `head_sha`; `conflict` otherwise. Answers the commit on the base branch. */
  mergePullRequest(
    repo: ForgeRepository,
    number: number,
    input: { method: 'merge' | 'squash'; head_sha: string; message: string },
  ): Promise<{ merge_sha: string }>
  /** On an issue or a pull request; they share their numbers. */
  createComment(repo: ForgeRepository, number: number, body: string): Promise<RemoteComment>
  /** `id` as in RemoteComment. */
  updateComment(repo: ForgeRepository, id: number, body: string): Promise<void>
  /** One that is gone already is no failure. */
  deleteComment(repo: ForgeRepository, id: number): Promise<void>
  /** Oldest first. */
  listComments(repo: ForgeRepository, number: number): Promise<RemoteComment[]>
  /** Issues and pull requests that have changed since then, the one that did so longest ago first. */
  listChanged(repo: ForgeRepository, since: Date): Promise<RemoteChanges>
  getSubject(repo: ForgeRepository, number: number): Promise<RemoteSubject>
  /**
   * What was asked of us there since then, in its order: where it says our name itself, or a comment, a review or a remark in one does, and by a
   * label of that name. Nothing of bots, nothing that was changed after it was said, and nothing of ours.
   */
  listMentions(repo: ForgeRepository, subject: RemoteSubject, of: AskedOf): Promise<Mention[]>
  /** Check runs and statuses of a commit, the newest of each name; marks of ours are none. A missing permission is a gap and no error. */
  listChecks(repo: ForgeRepository, sha: string): Promise<RemoteChecks>
  /** Shows by MARK_NAME, among the checks of a commit, how a run stands. Said again it is there once. */
  markCommit(repo: ForgeRepository, sha: string, mark: CommitMark): Promise<void>
  /** What somebody may do there. A stranger: `none`. */
  permissionOf(repo: ForgeRepository, login: string): Promise<'admin' | 'write' | 'read' | 'none'>
  /** All that the credentials show, `limit` at most. */
  listRepositories(limit: number): Promise<RemoteListing[]>
}
