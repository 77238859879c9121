import { readdir } from 'node:fs/promises'
import { join, resolve } from 'node:path'
import type { RepositoryCredentials } from '../../core/secrets/repository-credentials.ts'
import { createOwnFolder } from '../../system/own-folder.ts'
import type { SystemUser } from '../../system/users.ts'
import type { GitRepository } from '../git-repository.ts'
import { createFetchSlots, type FetchSlots } from './fetch-slots.ts'
import { OWN_CONFIG, PEER_CONFIG } from './git-config.ts'
import { replaceFile } from './owner-files.ts'

export type GitHostOptions = {
  /** The service's data folder, absolute; `mirrors`, `checkpoints` and `git` are created below it. */
  data_dir: string
  /**
   * Whose object caches: two processes on one data folder, of which one serves the API and one works, do not
   * share them, because each removes what it does not use itself.
   */
  caches?: 'of_api' | 'of_worker'
  /** The user that git runs as; null: the service's own. */
  user: SystemUser | null
  /** The group that may read the mirrors (that of the sandboxes' user); the user's own when absent. */
  reader_gid?: number
  /** Whether private and loopback addresses are allowed. */
  allow_private: boolean
  /** The maximum size of a mirror on disk in bytes. Default 4 GiB. */
  max_mirror_bytes?: number
  /** The maximum size of one push by a person in bytes. Default 512 MiB. */
  max_push_bytes?: number
  /** The memory limit of one git process in bytes. Default 2 GiB. */
  memory_bytes?: number
  /** The maximum number of files of a commit. Default 500,000. */
  max_paths?: number
  /** The search path for git and ssh. */
  path?: string
  /** Returns the credentials of a repository over HTTP, for each call of git, or null. */
  credentials?: (repo: GitRepository) => Promise<RepositoryCredentials | null>
}

/**
 * The result of the last successful fetch of a mirror. `refreshed_at`: when the fetch began to read the
 * remote, so the mirror has everything that the remote had then. `default_branch` is null when the repository
 * has no branch or does not report one.
 */
export type MirrorState = { refreshed_at: string; default_branch: string | null; empty: boolean }

/**
 * `paths`: how many files a checkout of the tree has, links and submodules included. `longest`: bytes of its
 * longest path.
 */
export type TreeShape = { paths: number; longest: number }

/**
 * The environment of the service's own git. Created once per process; disposing it ends every git process
 * that it started.
 */
export type GitHost = AsyncDisposable & {
  readonly user: SystemUser | null
  readonly gid: number | null
  readonly allow_private: boolean
  readonly max_mirror_bytes: number
  readonly max_push_bytes: number
  readonly memory_bytes: number
  readonly max_paths: number
  /** Cached shapes of trees, by object name. */
  readonly tree_shapes: Map<string, TreeShape>
  readonly path: string
  readonly credentials: (repo: GitRepository) => Promise<RepositoryCredentials | null>
  /** Home folder, working directory and configuration of git processes. */
  readonly home: string
  readonly mirrors: string
  /**
   * Bare repositories with the object caches of runs, by run id; recreated from the database when missing.
   */
  readonly checkpoints: string
  /**
   * The object caches: how many users hold each one, since when it is unused, and the queue of its changes.
   */
  readonly kept: Map<number, { holders: number; used_at: number; turn: Promise<unknown> }>
  /** Fires when the host is disposed. */
  readonly closing: AbortSignal
  /** Running fetches, by repository id: one at a time for each. `started_at`: in ms. */
  readonly flights: Map<
    number,
    { started_at: number; refreshed: Promise<MirrorState & { changed: boolean }> }
  >
  readonly fetchSlots: FetchSlots
  /** The fingerprint of each local repository when its mirror was last found to be equal. */
  readonly fingerprints: Map<number, string>
  /** Adds a running process to those that disposal waits for. */
  track(done: Promise<unknown>): void
}

/**
 * Creates the folders and the configuration, owned by the service user. Rejects with the file system's error.
 */
export async function openGitHost(options: GitHostOptions): Promise<GitHost> {
  const home = join(resolve(options.data_dir), 'git')
  const mirrors = join(resolve(options.data_dir), 'mirrors')
  const all_caches = join(resolve(options.data_dir), 'checkpoints')
  const checkpoints = options.caches === 'of_api' ? join(all_caches, 'api') : all_caches
  const gid = options.user ? (options.reader_gid ?? options.user.gid) : null
  const readable = options.user && { ...options.user, gid: gid ?? options.user.gid }
  createOwnFolder(home, 0o750, options.user)
  createOwnFolder(mirrors, 0o750, readable)
  createOwnFolder(all_caches, 0o750, readable)
  createOwnFolder(checkpoints, 0o750, readable)
  await replaceFile({ user: options.user, gid: null }, join(home, 'config'), OWN_CONFIG)
  await replaceFile({ user: options.user, gid: null }, join(home, 'peer-config'), PEER_CONFIG)
  const closing = new AbortController()
  const running = new Set<Promise<unknown>>()
  return {
    user: options.user,
    gid,
    allow_private: options.allow_private,
    max_mirror_bytes: options.max_mirror_bytes ?? 4 * 1024 ** 3,
    max_push_bytes: options.max_push_bytes ?? 512 * 1024 ** 2,
    memory_bytes: options.memory_bytes ?? 2 * 1024 ** 3,
    max_paths: options.max_paths ?? 500_000,
    tree_shapes: new Map(),
    path: options.path ?? '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin',
    credentials: options.credentials ?? (async () => null),
    home,
    mirrors,
    checkpoints,
    kept: new Map(),
    closing: closing.signal,
    flights: new Map(),
    fetchSlots: createFetchSlots(closing.signal),
    fingerprints: new Map(),
    track(done) {
      running.add(done)
      done.then(
        () => running.delete(done),
        () => running.delete(done),
      )
    },
    async [Symbol.asyncDispose]() {
      closing.abort(new Error('the service is stopping'))
      while (running.size > 0) await Promise.allSettled(running)
    },
  }
}

/**
 * Returns the path of the bare mirror of a repository: bound read-only into sandboxes. It may not exist yet.
 */
export function mirrorPath(host: GitHost, repository_id: number): string {
  return join(host.mirrors, `${repository_id}.git`)
}

/** Returns the names in the mirrors folder that start with `prefix`. */
export async function namesStarting(host: GitHost, prefix: string): Promise<string[]> {
  return (await readdir(host.mirrors)).filter(name => name.startsWith(prefix))
}
