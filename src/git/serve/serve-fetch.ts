import { Readable } from 'node:stream'
import type { GitRepository } from '../git-repository.ts'
import { markSuspect, mirrorState } from '../mirrors/mirror-refs.ts'
import { refreshMirror } from '../mirrors/mirrors.ts'
import { GitError, gitErrorFrom } from '../process/git-error.ts'
import { type GitHost, mirrorPath } from '../process/git-host.ts'
import { FLUSH, pktLine } from '../process/pkt-line.ts'
import { git, ownIdentity, startGit } from '../process/run-git.ts'
import { readFetchRequest } from './fetch-request.ts'
import { publicRequest } from './public-request.ts'

/** The protocol version that a client requested. */
export type GitProtocol = 0 | 1 | 2

/** How long a client waits for a refresh from the remote; then it gets what was fetched last. */
const REFRESH_WAIT_MS = 10_000
/** How long a client may take to fetch. */
const FETCH_MS = 30 * 60_000

/**
 * Only branches and tags of a mirror are visible, none of the service's own refs. What a client may request
 * of pack-objects is limited: one thread, and cheap filters.
 */
const OPTIONS = [
  ...[
    'transfer.hideRefs=refs',
    'transfer.hideRefs=!refs/heads',
    'transfer.hideRefs=!refs/tags',
    'uploadpack.keepAlive=5',
  ],
  ...['uploadpack.allowFilter=true', 'uploadpackfilter.allow=false'],
  ...['blob:none', 'blob:limit', 'tree'].map(filter => `uploadpackfilter.${filter}.allow=true`),
  ...[
    'allowTipSHA1InWant',
    'allowReachableSHA1InWant',
    'allowAnySHA1InWant',
    'allowRefInWant',
    'allowSidebandAll',
  ].map(name => `uploadpack.${name}=false`),
  ...['pack.threads=1', 'pack.windowMemory=64m', 'pack.deltaCacheSize=32m'],
].flatMap(option => ['-c', option])

const uploadPack = (host: GitHost, repository_id: number, protocol: GitProtocol, ...args: string[]) => ({
  args: [...OPTIONS, 'upload-pack', '--strict', '--stateless-rpc', ...args, mirrorPath(host, repository_id)],
  env: { GIT_PROTOCOL: `version=${protocol}` },
})

/**
 * Ensures that there is a mirror to serve, as new as possible within 10 s. GitError when the repository has
 * never been fetched and cannot be.
 */
export async function readyMirror(host: GitHost, repo: GitRepository): Promise<void> {
  try {
    await refreshMirror(host, repo, { wait_ms: REFRESH_WAIT_MS })
  } catch (error) {
    if (!(error instanceof GitError) || (await mirrorState(host, repo.id)) === null) throw error
  }
}

/** What a client of protocol 2 may use: the commands and options that `readFetchRequest` accepts. */
const OFFER = [
  'version 2',
  'agent=agentrun',
  'ls-refs=unborn',
  'fetch=shallow wait-for-done filter',
  'server-option',
  'object-format=sha1',
]

/** Returns what is offered for a fetch; in protocols 0 and 1 with all refs. GitError. */
export async function offerFetch(
  host: GitHost,
  repository_id: number,
  protocol: GitProtocol,
): Promise<Buffer> {
  if (protocol === 2) return Buffer.concat([...OFFER.map(line => pktLine(`${line}\n`)), FLUSH])
  const advertised = await git(
    host,
    'the repository cannot be read',
    uploadPack(host, repository_id, protocol, '--http-backend-info-refs'),
  )
  return Buffer.concat([pktLine('# service=git-upload-pack\n'), FLUSH, advertised])
}

/**
 * Responds to one request of a fetch; a refusal is a response too. Git reads a request that the service has
 * written, from the lines that it has read and checked. `output` must be read to its end, or destroyed;
 * `done` rejects when git was stopped. Rejects with GitError.
 */
export async function serveFetch(
  host: GitHost,
  repository_id: number,
  request: Buffer,
  options: { protocol: GitProtocol; signal: AbortSignal },
): Promise<{ output: Readable; done: Promise<void> }> {
  const lines = await readFetchRequest(request, options.protocol)
  if ('problem' in lines) return refusal(lines.problem)
  const stdin = await publicRequest(host, repository_id, lines, options.signal)
  if ('problem' in stdin) return refusal(stdin.problem)
  const { child, done } = startGit(
    host,
    ownIdentity(host),
    {
      ...uploadPack(host, repository_id, options.protocol, '--timeout=60'),
      stdin,
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

const refusal = (why: string) => ({ output: Readable.from([pktLine(`ERR ${why}`)]), done: Promise.resolve() })
