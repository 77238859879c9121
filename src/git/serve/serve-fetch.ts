import { Readable } from 'node:stream'
import type { GitRepository } from '../git-repository.ts'
import { markSuspect, mirrorState } from '../mirrors/mirror-refs.ts'
import { refreshMirror } from '../mirrors/mirrors.ts'
import { GitError, gitErrorFrom } from '../process/git-error.ts'
import { type GitHost, mirrorPath } from '../process/git-host.ts'
import { FLUSH, type Packet, pktLine, readPackets } from '../process/pkt-line.ts'
import { type GitCall, git, ownIdentity, startGit } from '../process/run-git.ts'

/** The protocol version that a client requested. */
export type GitProtocol = 0 | 1 | 2

/** How long a client waits for a refresh from the remote; then it gets what was fetched last. */
const REFRESH_WAIT_MS = 10_000
/** How long a client may take to fetch, and how long the service searches for objects that it requests by name. */
const FETCH_MS = 30 * 60_000
const SEARCH_MS = 20_000

/**
 * Only branches and tags of a mirror are visible, none of the service's own refs. What a client may request of pack-objects is limited: one
 * thread, and cheap filters.
 */
const OPTIONS = [
  ...['transfer.hideRefs=refs', 'transfer.hideRefs=!refs/heads', 'transfer.hideRefs=!refs/tags', 'uploadpack.keepAlive=5'],
  ...['uploadpack.allowFilter=true', 'uploadpackfilter.allow=false'],
  ...['blob:none', 'blob:limit', 'tree'].map(filter => `uploadpackfilter.${filter}.allow=true`),
  ...['pack.threads=1', 'pack.windowMemory=64m', 'pack.deltaCacheSize=32m'],
].flatMap(option => ['-c', option])

const uploadPack = (host: GitHost, repository_id: number, protocol: GitProtocol, ...args: string[]) => ({
  args: [...OPTIONS, 'upload-pack', '--strict', '--stateless-rpc', ...args, mirrorPath(host, repository_id)],
  env: { GIT_PROTOCOL: `version=${protocol}` },
})

/**
 * Ensures that there is a mirror to serve, as new as possible within 10 s. GitError when the repository has never been fetched and cannot
 * be.
 */
export async function readyMirror(host: GitHost, repo: GitRepository): Promise<void> {
  try {
    await refreshMirror(host, repo, { wait_ms: REFRESH_WAIT_MS })
  } catch (error) {
    if (!(error instanceof GitError) || (await mirrorState(host, repo.id)) === null) throw error
  }
}

/** Returns the ref advertisement for a fetch. GitError. */
export async function offerFetch(host: GitHost, repository_id: number, protocol: GitProtocol): Promise<Buffer> {
  const advertised = await git(host, 'the repository cannot be read', uploadPack(host, repository_id, protocol, '--http-backend-info-refs'))
  return protocol === 2 ? advertised : Buffer.concat([pktLine('# service=git-upload-pack\n'), FLUSH, advertised])
}

/**
 * Responds to one request of a fetch; a refusal is a response too. `output` must be read to its end, or destroyed; `done` rejects when git was
 * stopped. Rejects with GitError.
 */
export async function serveFetch(
  host: GitHost,
  repository_id: number,
  request: Buffer,
  options: { protocol: GitProtocol; signal: AbortSignal },
): Promise<{ output: Readable; done: Promise<void> }> {
  const packets = readPackets(request)
  if (packets === null) return refusal('this is not a request of git')
  const unknown = await notPublic(host, repository_id, wanted(packets), options.signal)
  if (unknown !== null) return refusal(`${unknown} is not part of any branch or tag here`)
  const { child, done } = startGit(
    host,
    ownIdentity(host),
    {
      ...uploadPack(host, repository_id, options.protocol, '--timeout=60'),
      stdin: request,
      timeout_ms: FETCH_MS,
      signal: options.signal,
    },
    { output: 'pipe' },
  )
  if (!child.stdout) throw new GitError('failed', 'git cannot be started')
  const over = done.then(async ({ exit_code, stderr }) => {
    if (exit_code !== 0 && gitErrorFrom(stderr, '').code === 'corrupt') await markSuspect(host, repository_id)
  })
  return { output: child.stdout, done: over }
}

function wanted(packets: Packet[]): Set<string> {
  const lines = packets.flatMap(packet => (packet.kind === 'line' ? [packet.content.toString('latin1')] : []))
  return new Set(lines.flatMap(line => /^want ([0-9a-f]{40})\b/.exec(line)?.[1] ?? []))
}

const refusal = (why: string) => ({ output: Readable.from([pktLine(`ERR ${why}`)]), done: Promise.resolve() })

/**
 * Returns the first of these objects that no branch and no tag reaches; null: all are public. Protocol version 2 serves any object that a
 * client can name, including unpushed ones. The search starts at the newest commits, which quickly finds what a checkout of a partial clone
 * requests.
 */
async function notPublic(host: GitHost, repository_id: number, wants: Set<string>, signal: AbortSignal): Promise<string | null> {
  const git_dir = mirrorPath(host, repository_id)
  const missing = new Set(wants)
  const allFound = (line: string) => {
    missing.delete(line)
    return missing.size === 0
  }
  const tips = ['for-each-ref', '--format=%(objectname)%0a%(*objectname)', 'refs/heads', 'refs/tags']
  if (missing.size > 0) await readLines(host, { git_dir, args: tips, signal }, allFound)
  const all = ['rev-list', '--objects', '--no-object-names', '--in-commit-order', '--branches', '--tags', '--']
  if (missing.size > 0) await readLines(host, { git_dir, args: all, timeout_ms: SEARCH_MS, signal }, allFound)
  const [first = null] = missing
  return first
}

/** Reads lines until `enough` returns true. Rejects as `runGit`. */
async function readLines(host: GitHost, call: GitCall, enough: (line: string) => boolean): Promise<void> {
  const { child, done } = startGit(host, ownIdentity(host), call, { output: 'pipe' })
  const failure = done.then(
    () => null,
    (error: unknown) => error,
  )
  let rest = ''
  for await (const chunk of (child.stdout?.setEncoding('latin1') ?? []) as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    // Git ends by itself when its output is closed.
    if (lines.some(enough)) return
  }
  const error = await failure
  if (error !== null) throw error
}
