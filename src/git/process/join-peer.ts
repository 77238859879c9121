import type { GitHost } from './git-host.ts'
import type { RemoteCall, RemoteService } from './local-peer.ts'
import { type GitCall, type GitIdentity, type GitResult, runJoinedGit } from './run-git.ts'

/** How long one side may continue after the other has ended. */
const GRACE_MS = 1_000

/**
 * Connects git to a peer process by a socket pair, which git's `fd::` transport uses. The peer's errors come
 * first in `stderr`.
 */
export async function joinPeer(
  host: GitHost,
  peer: GitIdentity,
  path: string,
  service: RemoteService,
  call: RemoteCall,
): Promise<GitResult> {
  const peer_gone = new AbortController()
  const over = new AbortController()
  const signal = call.signal ? AbortSignal.any([call.signal, peer_gone.signal]) : peer_gone.signal
  const own_call = { ...call, signal, args: call.args('fd::3'), protocols: 'fd' }
  const [own_done, peer_done] = runJoinedGit(host, own_call, {
    identity: peer,
    call: peerCall(path, service, call, over.signal),
  })

  // Git's helper waits forever when the peer dies with unread data.
  const watch = peer_done.then(
    result => (result.exit_code === 0 ? undefined : setTimeout(() => peer_gone.abort(peer_gone), GRACE_MS)),
    () => undefined,
  )
  const last_lines = peer_done.then(
    result => result.stderr,
    () => '',
  )
  try {
    const result = await own_done
    const lingering = setTimeout(() => over.abort(), GRACE_MS)
    const stderr = await last_lines
    clearTimeout(lingering)
    return result.exit_code === 0 ? result : { ...result, stderr: `${stderr}\n${result.stderr}` }
  } catch (error) {
    over.abort(error)
    const stderr = await last_lines
    if (error !== peer_gone) throw error
    return { exit_code: 128, stdout: Buffer.alloc(0), stderr, truncated: false }
  } finally {
    clearTimeout(await watch)
  }
}

function peerCall(path: string, service: RemoteService, call: RemoteCall, signal: AbortSignal): GitCall {
  return {
    args: [service, path],
    // For the hooks of the repository's owner; the service itself connects to nothing.
    protocols: 'file:git:http:https:ssh',
    config: { 'safe.directory': '*' },
    timeout_ms: (call.timeout_ms ?? 60_000) + 5_000,
    signal,
  }
}
