import type { Readable } from 'node:stream'
import type { RepositoryRow } from '../../store/access/repositories.ts'
import type { GitResult } from '../pull-requests/git-port.ts'

type Repository = Pick<RepositoryRow, 'id' | 'organization_id' | 'url' | 'kind'>
/** The version of git's protocol that the client speaks. */
export type GitProtocol = 0 | 1 | 2
/** Forty zeros instead of a commit: none. */
export type MovedRef = { ref: string; from: string; to: string }

/** The body of a request, in a file that disposal removes. `is_whole`: it has no more bytes than allowed. */
export type GitUpload = AsyncDisposable & { path: string; bytes: number; is_whole: boolean }

/**
 * Git's side of git over HTTP (specification.md#access). Messages of failures are for people, and git shows
 * them.
 */
export type GitServer = {
  /** The refs for a fetch: refreshed from the remote, unless that takes long or fails. */
  offerFetch(repo: Repository, protocol: GitProtocol): Promise<GitResult<Buffer>>
  /** Reads a body to its end. Default of `max_bytes`: the limit of a push. */
  receive(
    body: AsyncIterable<Buffer>,
    sender: { organization_id: number; user_id: number },
    max_bytes?: number,
  ): Promise<GitResult<GitUpload>>
  /** `output` is read to its end or destroyed; `done` rejects when git was stopped. */
  fetch(
    repo: Repository,
    request: GitUpload,
    options: { protocol: GitProtocol; signal: AbortSignal },
  ): Promise<GitResult<{ output: Readable; done: Promise<void> }>>
  offerPush(repo: Repository): Promise<GitResult<Buffer>>
  /**
   * The report describes problems of the push itself. `signal` stops it until the repository receives it, and
   * not later.
   */
  push(
    repo: Repository,
    upload: GitUpload,
    signal: AbortSignal,
  ): Promise<GitResult<{ moved: MovedRef[]; report: (notes: string[]) => Buffer }>>
}
