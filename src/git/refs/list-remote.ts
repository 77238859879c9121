import type { GitRepository } from '../git-repository.ts'
import { GitError, gitErrorFrom } from '../process/git-error.ts'
import type { GitHost } from '../process/git-host.ts'
import { asPeer } from '../process/local-peer.ts'
import { runGit } from '../process/run-git.ts'
import { runWithRemote } from './remote.ts'
import { parseAdvertisement, parseRemoteRefs, type RemoteRefs } from './remote-refs.ts'

const FAILED = 'the repository cannot be reached'

/** Reads the remote's branches, tags and HEAD. Rejects with GitError. */
export async function listRemote(
  host: GitHost,
  repo: GitRepository,
  timeout_ms: number,
): Promise<RemoteRefs> {
  const found =
    repo.kind === 'local'
      ? await listLocal(host, repo.url, timeout_ms)
      : await listNetwork(host, repo, timeout_ms)
  const [sha = ''] = found.refs.values()
  if (sha.length === 64)
    throw new GitError(
      'failed',
      'the repository uses SHA-256 object names, which the service does not support yet',
    )
  return found
}

/** One process of the peer is enough here: it starts with the list. */
async function listLocal(host: GitHost, path: string, timeout_ms: number): Promise<RemoteRefs> {
  const call = {
    args: ['upload-pack', '--advertise-refs', path],
    config: { 'safe.directory': '*' },
    env: { GIT_PROTOCOL: '' },
    timeout_ms,
  }
  const result = await asPeer(host, path, 'upload-pack', peer => runGit(host, call, peer))
  const found = result.exit_code === 0 ? parseAdvertisement(result.stdout) : null
  if (!found) throw gitErrorFrom(result.stderr, FAILED)
  return found
}

async function listNetwork(host: GitHost, repo: GitRepository, timeout_ms: number): Promise<RemoteRefs> {
  const result = await runWithRemote(host, repo, 'upload-pack', {
    args: address => [
      'ls-remote',
      '--quiet',
      '--symref',
      '--',
      address,
      'HEAD',
      'refs/heads/*',
      'refs/tags/*',
    ],
    timeout_ms,
  })
  if (result.exit_code !== 0) throw gitErrorFrom(result.stderr, FAILED)
  return parseRemoteRefs(result.stdout.toString())
}
