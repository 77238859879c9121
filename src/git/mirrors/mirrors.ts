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

type Refreshed = MirrorState & { changed: boolean }

/**
 * Updates the mirror of a repository from its remote, and creates it if needed. One fetch at a time for each
 * repository: further callers share it. Never touches `refs/agentrun/*` and never drops an object. A corrupt
 * mirror is rebuilt. Rejects with GitError.
 */
export async function refreshMirror(
  host: GitHost,
  repo: GitRepository,
  options: RefreshOptions = {},
): Promise<Refreshed> {
  let flight = host.flights.get(repo.id)
  if (!flight) {
    flight = refresh(host, repo, options.timeout_ms ?? 900_000).finally(() => host.flights.delete(repo.id))
    host.flights.set(repo.id, flight)
    host.track(flight)
  }
  return await waitFor(flight, options)
}

/**
 * Refreshes like `refreshMirror`, with a check that begins now: a running one may have read the remote before
 * the caller changed it.
 */
export async function refreshMirrorNow(
  host: GitHost,
  repo: GitRepository,
  options: RefreshOptions = {},
): Promise<Refreshed> {
  if (host.flights.has(repo.id)) await refreshMirror(host, repo, options).catch(() => {})
  return refreshMirror(host, repo, options)
}

async function waitFor(flight: Promise<Refreshed>, { wait_ms, signal }: RefreshOptions): Promise<Refreshed> {
  const onTimeout = () => {
    throw new GitError('timeout', `the repository was not fetched within ${wait_ms} ms`)
  }
  const waiting = wait_ms === undefined ? flight : withTimeout(flight, wait_ms, onTimeout)
  return await (signal === undefined ? waiting : orAborted(waiting, signal))
}

async function refresh(host: GitHost, repo: GitRepository, timeout_ms: number): Promise<Refreshed> {
  const seen = repo.kind === 'local' ? localFingerprint(repo.url) : null
  const unmoved =
    seen !== null && host.fingerprints.get(repo.id) === withPacks(host, repo.id, seen)
      ? await mirrorState(host, repo.id)
      : null
  if (unmoved && !(await isSuspect(host, repo.id)))
    return { ...(await stamp(host, repo.id, unmoved)), changed: false }
  const refreshed = await refreshFromRemote(host, repo, timeout_ms)
  if (seen !== null) host.fingerprints.set(repo.id, withPacks(host, repo.id, seen))
  return refreshed
}

/** A mirror that lost a pack must not count as unchanged. */
function withPacks(host: GitHost, repository_id: number, seen: string): string {
  const packs = statSync(join(mirrorPath(host, repository_id), 'objects', 'pack'), {
    bigint: true,
    throwIfNoEntry: false,
  })
  return `${seen}\npacks ${packs?.mtimeNs}`
}

/** Records that the mirror equals its remote now. */
async function stamp(
  host: GitHost,
  repository_id: number,
  state: Omit<MirrorState, 'refreshed_at'>,
): Promise<MirrorState> {
  const now = { ...state, refreshed_at: new Date().toISOString() }
  await writeMirrorState(host, mirrorPath(host, repository_id), now)
  return now
}

async function refreshFromRemote(host: GitHost, repo: GitRepository, timeout_ms: number): Promise<Refreshed> {
  const ends_at = performance.now() + timeout_ms
  const left = () => Math.max(1, Math.ceil(ends_at - performance.now()))
  const [remote, known] = await Promise.all([
    listRemote(host, repo, Math.min(left(), 60_000)),
    readKnown(host, repo),
  ])
  const default_branch = defaultBranch(remote)
  const state = {
    default_branch,
    empty: ![...remote.refs.keys()].some(name => name.startsWith('refs/heads/')),
  }
  const git_dir = mirrorPath(host, repo.id)
  const done = (): MirrorState => ({ ...state, refreshed_at: new Date().toISOString() })
  if (known.refs && !known.suspect && sameRefs(known.refs, remote.refs))
    return { ...(await stamp(host, repo.id, state)), changed: false }
  return await withMirrorLock(host, repo.id, left(), async () => {
    const usable = known.refs !== null || (await mirrorRefs(host, repo.id)) !== null
    if (!usable || (known.suspect && !(await isSound(host, git_dir, left())))) await rebuild()
    else await update().catch(repair)
    return { ...(await stamp(host, repo.id, state)), changed: true }
  })

  async function update() {
    await fetchInto(host, repo, git_dir, default_branch, left())
    await clearSuspect(host, repo.id)
    await fewerPacks(host, git_dir)
  }

  async function rebuild() {
    await buildMirror(host, repo, default_branch, left(), async fresh =>
      writeMirrorState(host, fresh, done()),
    )
  }

  /** A fetch can fail because of the mirror rather than the remote. */
  async function repair(error: unknown) {
    const mirror_refs =
      error instanceof GitError && ['corrupt', 'failed', 'not_a_repository'].includes(error.code)
    if (!mirror_refs || (await isSound(host, git_dir, left()))) throw error
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
