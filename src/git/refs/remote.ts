import { shellQuote } from '../../core/text/shell-quote.ts'
import type { GitRepository } from '../git-repository.ts'
import { GitError } from '../process/git-error.ts'
import type { GitHost } from '../process/git-host.ts'
import { joinPeer } from '../process/join-peer.ts'
import { asPeer, type RemoteCall, type RemoteService } from '../process/local-peer.ts'
import { type GitResult, runGit } from '../process/run-git.ts'
import { publicAddresses } from './address.ts'

/**
 * Runs git against a repository's remote: over the network, to a checked address only; on this machine,
 * connected to a process of the repository's owner. Returns the result for any exit code; rejects as
 * `runGit`, and with GitError when the address is refused or a local path cannot be used. A fetch waits until
 * the host reads few enough remotes; its timeout starts afterwards.
 */
export function runWithRemote(
  host: GitHost,
  repo: GitRepository,
  service: RemoteService,
  call: RemoteCall,
): Promise<GitResult> {
  const run = () => runNow(host, repo, service, call)
  return service === 'upload-pack' ? host.fetchSlots(repo.organization_id, run) : run()
}

async function runNow(
  host: GitHost,
  repo: GitRepository,
  service: RemoteService,
  call: RemoteCall,
): Promise<GitResult> {
  if (repo.kind === 'local')
    return await asPeer(host, repo.url, service, peer => joinPeer(host, peer, repo.url, service, call))
  const timeout_ms = call.timeout_ms ?? 60_000
  const [reach, signed_in] = await Promise.all([
    networkSettings(host, repo, Math.min(timeout_ms, 10_000)),
    signIn(host, repo),
  ])
  return await runGit(host, {
    ...call,
    args: call.args(repo.url),
    protocols: repo.kind,
    config: { ...call.config, ...reach.config, ...signed_in.config },
    hidden: signed_in.hidden,
    env: { ...reach.env, ...call.env },
  })
}

/** Pins the connection to checked addresses, so that a second DNS response cannot redirect it. */
async function networkSettings(
  host: GitHost,
  repo: GitRepository,
  timeout_ms: number,
): Promise<{ config: Record<string, string>; env: Record<string, string> }> {
  const { name, port } = hostOf(repo)
  const found = host.allow_private ? null : await publicAddresses(name, timeout_ms)
  if (repo.kind === 'ssh')
    return { config: {}, env: { GIT_SSH_COMMAND: sshCommand(host, name, found?.[0] ?? null) } }
  if (!found) return { config: {}, env: {} }
  const list = found.map(address => (address.includes(':') ? `[${address}]` : address)).join(',')
  return { config: { 'http.curloptResolve': `${name}:${port}:${list}` }, env: {} }
}

/**
 * Returns the credentials for this one process, in its environment, and for this one server: git follows no
 * redirect.
 */
async function signIn(
  host: GitHost,
  repo: GitRepository,
): Promise<{ config: Record<string, string>; hidden: string[] }> {
  const found = repo.kind === 'ssh' ? null : await host.credentials(repo)
  if (found === null) return { config: {}, hidden: [] }
  const basic = Buffer.from(`${found.username}:${found.password}`).toString('base64')
  const config = { [`http.${new URL(repo.url).origin}/.extraHeader`]: `Authorization: Basic ${basic}` }
  return { config, hidden: [found.password, basic] }
}

/** No user input enters this line: `name` is a valid host name and `address` an IP address. */
function sshCommand(host: GitHost, name: string, address: string | null): string {
  const options = [
    'BatchMode=yes',
    'ConnectTimeout=15',
    'ServerAliveInterval=15',
    'ServerAliveCountMax=3',
    'StrictHostKeyChecking=accept-new',
  ]
  options.push(
    `UserKnownHostsFile="${host.home}/known_hosts"`,
    'ForwardAgent=no',
    'ForwardX11=no',
    'PermitLocalCommand=no',
  )
  if (address)
    options.push(`HostName=${address}`, `HostKeyAlias=${name}`, 'ProxyCommand=none', 'CheckHostIP=no')
  return ['ssh', ...options.map(option => `-o ${shellQuote(option)}`)].join(' ')
}

function hostOf(repo: GitRepository): { name: string; port: string } {
  const scp = repo.kind === 'ssh' ? /^[^@:/]+@([^:/]+):/.exec(repo.url)?.[1] : undefined
  if (scp) return { name: scp, port: '22' }
  const url = URL.parse(repo.url)
  if (!url) throw new GitError('failed', 'the address of the repository cannot be read')
  return {
    name: url.hostname,
    port: url.port || (repo.kind === 'https' ? '443' : repo.kind === 'http' ? '80' : '22'),
  }
}
