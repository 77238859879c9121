import { statSync } from 'node:fs'
import { join } from 'node:path'
import { orAborted } from '../../core/abort.ts'
import { withTimeout } from '../../core/timeout.ts'
import type { GitRepository } from '../git-repository.ts'
import { GitError } from '../process/git-error.ts'
import { type GitHost, type MirrorState, mirrorPath } from '../process/git-host.ts'
import { listRemote } from '../refs/list-remote.ts'
import { defaultBranch } from '../refs/remote-refs.ts'
import { localFingerprint } from './local-fingerprint.ts'
import { buildMirror, fetchInto, fewerPacks, isSound } from './mirror-build.ts'
import { withMirrorLock } from './mirror-lock.ts'
import { clearSuspect, isSuspect, mirrorRefs, mirrorState, writeMirrorState } from './mirror-refs.ts'

type RefreshOptions = {
  /**
   * The remote is read after this time, in ms by the clock of this machine: a fetch that began earlier is not
   * shared. Default: any running fetch is.
   */
  since?: number
  /** Timeout of the fetch itself, if this call starts it. Default 15 minutes. */
  timeout_ms?: number
  /**
   * How long this caller waits: then GitError `timeout`, while the fetch continues in the background.
   * Default: to the end.
   */
  wait_ms?: number
  /** Stops this caller's waiting with the signal's reason, not the fetch. */
  signal?: AbortSignal
}

type RefreshedMirror = MirrorState & { changed: boolean }

/**
 * Updates the mirror of a repository from its remote, and creates it if needed. One fetch at a time for each
 * repository: further callers share it, or the next one. Never touches `refs/agentrun/*` and never drops an
 * object. A corrupt mirror is rebuilt. Rejects with GitError.
 */
export async function refreshMirror(
  host: GitHost,
  repo: GitRepository,
  options: RefreshOptions = {},
): Promise<RefreshedMirror> {
  const { since = Number.NEGATIVE_INFINITY, timeout_ms = 900_000 } = options
  const wait = waiter(options)
  const running = host.flights.get(repo.id)
  if (running !== undefined && running.started_at <= since) await wait(running.refreshed.then(ignore, ignore))
  return await wait((host.flights.get(repo.id) ?? startFlight(host, repo, timeout_ms)).refreshed)
}

/** Refreshes like `refreshMirror`, with a check of the remote that begins now. */
export const refreshMirrorNow = (
  host: GitHost,
  repo: GitRepository,
  options: Omit<RefreshOptions, 'since'> = {},
): Promise<RefreshedMirror> => refreshMirror(host, repo, { ...options, since: Number.POSITIVE_INFINITY })

const ignore = () => {}

function startFlight(host: GitHost, repo: GitRepository, timeout_ms: number) {
  const started_at = Date.now()
  const refreshed = refresh(host, repo, { started_at, timeout_ms }).finally(() =>
    host.flights.delete(repo.id),
  )
  const flight = { started_at, refreshed }
  host.flights.set(repo.id, flight)
  host.track(refreshed)
  return flight
}

/** Returns a function that waits for promises, for `wait_ms` in total. */
function waiter({ wait_ms, signal }: RefreshOptions) {
  const began_at = performance.now()
  const onTimeout = () => {
    throw new GitError('timeout', `the repository was not fetched within ${wait_ms} ms`)
  }
  return async <T>(what: Promise<T>): Promise<T> => {
    const left = wait_ms === undefined ? null : Math.max(1, began_at + wait_ms - performance.now())
    const waiting = left === null ? what : withTimeout(what, left, onTimeout)
    return await (signal === undefined ? waiting : orAborted(waiting, signal))
  }
}

type Refresh = { started_at: number; timeout_ms: number }

async function refresh(host: GitHost, repo: GitRepository, work: Refresh): Promise<RefreshedMirror> {
  const seen = repo.kind === 'local' ? localFingerprint(repo.url) : null
  const unmoved =
    seen !== null && host.fingerprints.get(repo.id) === withPacks(host, repo.id, seen)
      ? await mirrorState(host, repo.id)
      : null
  if (unmoved && !(await isSuspect(host, repo.id))) {
    const state = { ...unmoved, refreshed_at: new Date(work.started_at).toISOString() }
    await writeMirrorState(host, mirrorPath(host, repo.id), state)
    return { ...state, changed: false }
  }
  const refreshed = await refreshFromRemote(host, repo, work)
  if (seen !== null) recordEqual(host, repo.id, seen)
  return refreshed
}

/** A mirror that lost a pack must not count as unchanged. */
function withPacks(host: GitHost, repository_id: number, seen: string): string {
  return `${seen}${packsOf(host, repository_id)}`
}

function packsOf(host: GitHost, repository_id: number): string {
  const packs = statSync(join(mirrorPath(host, repository_id), 'objects', 'pack'), {
    bigint: true,
    throwIfNoEntry: false,
  })
  return `\npacks ${packs?.mtimeNs}`
}

/**
 * Returns the fingerprint of a local repository when its mirror was last equal to it; null when that is
 * unknown, or the mirror has changed since.
 */
export function equalAt(host: GitHost, repository_id: number): string | null {
  const recorded = host.fingerprints.get(repository_id)
  const packs = packsOf(host, repository_id)
  return recorded?.endsWith(packs) ? recorded.slice(0, -packs.length) : null
}

/** Records that the mirror is equal to its local repository, which has this fingerprint. */
export function recordEqual(host: GitHost, repository_id: number, fingerprint: string): void {
  host.fingerprints.set(repository_id, withPacks(host, repository_id, fingerprint))
}

async function refreshFromRemote(
  host: GitHost,
  repo: GitRepository,
  { started_at, timeout_ms }: Refresh,
): Promise<RefreshedMirror> {
  const ends_at = performance.now() + timeout_ms
  const left = () => Math.max(1, Math.ceil(ends_at - performance.now()))
  const [remote, known] = await Promise.all([
    listRemote(host, repo, Math.min(left(), 60_000)),
    readKnown(host, repo),
  ])
  const default_branch = defaultBranch(remote)
  const state: MirrorState = {
    refreshed_at: new Date(started_at).toISOString(),
    default_branch,
    empty: ![...remote.refs.keys()].some(name => name.startsWith('refs/heads/')),
  }
  const git_dir = mirrorPath(host, repo.id)
  if (known.refs && !known.suspect && sameRefs(known.refs, remote.refs)) {
    await writeMirrorState(host, git_dir, state)
    return { ...state, changed: false }
  }
  return await withMirrorLock(host, repo.id, left(), async () => {
    const usable = known.refs !== null || (await mirrorRefs(host, repo.id)) !== null
    if (!usable || (known.suspect && !(await isSound(host, git_dir, left())))) await rebuild()
    else await update().catch(repair)
    await writeMirrorState(host, git_dir, state)
    return { ...state, changed: true }
  })

  async function update() {
    await fetchInto(host, repo, git_dir, default_branch, left())
    await clearSuspect(host, repo.id)
    await fewerPacks(host, git_dir)
  }

  async function rebuild() {
    await buildMirror(host, repo, default_branch, left(), fresh => writeMirrorState(host, fresh, state))
  }

  /** A fetch can fail because of the mirror rather than the remote. */
  async function repair(error: unknown) {
    const may_be_corrupt =
      error instanceof GitError && ['corrupt', 'failed', 'not_a_repository'].includes(error.code)
    if (!may_be_corrupt || (await isSound(host, git_dir, left()))) throw error
    await rebuild()
  }
}

async function readKnown(host: GitHost, repo: GitRepository) {
  const [refs, suspect] = await Promise.all([mirrorRefs(host, repo.id), isSuspect(host, repo.id)])
  return { refs, suspect }
}

function sameRefs(mirror_refs: Map<string, string>, remote_refs: Map<string, string>): boolean {
  return (
    mirror_refs.size === remote_refs.size &&
    [...remote_refs].every(([name, sha]) => mirror_refs.get(name) === sha)
  )
}
