import { isRunBranch } from './branch-name.ts'

/** What a remote offers: its branches and tags by full name, and its HEAD if it reports one. */
export type RemoteRefs = { refs: Map<string, string>; head_branch: string | null; head_sha: string | null }

/** Parses the output of `git ls-remote --symref`. Peeled tags are omitted. */
export function parseRemoteRefs(output: string): RemoteRefs {
  const found: RemoteRefs = { refs: new Map(), head_branch: null, head_sha: null }
  for (const line of output.split('\n')) {
    const tab = line.indexOf('\t')
    const value = line.slice(0, tab)
    const name = line.slice(tab + 1)
    if (name === 'HEAD' && value.startsWith('ref: refs/heads/'))
      found.head_branch = value.slice('ref: refs/heads/'.length)
    else if (tab > 0 && /^[0-9a-f]{40,64}$/.test(value)) keepRef(found, name, value)
  }
  return found
}

/**
 * Parses the output of `git upload-pack --advertise-refs` in protocol version 0: packet lines `<sha> <name>`,
 * the first followed by NUL and capabilities. Null when it is cut off or malformed.
 */
export function parseAdvertisement(output: Buffer): RemoteRefs | null {
  const found: RemoteRefs = { refs: new Map(), head_branch: null, head_sha: null }
  for (let at = 0; at + 4 <= output.length; ) {
    const length = Number.parseInt(output.toString('latin1', at, at + 4), 16)
    if (length === 0) return found
    if (!(length > 4) || at + length > output.length) return null
    const [line = '', capabilities] = output
      .toString('utf8', at + 4, at + length)
      .trimEnd()
      .split('\0')
    at += length
    const symref = / symref=HEAD:refs\/heads\/(\S+)/.exec(` ${capabilities ?? ''}`)
    if (symref?.[1]) found.head_branch = symref[1]
    const [, sha, name] = /^([0-9a-f]{40,64}) (.+)$/.exec(line) ?? []
    if (sha && name) keepRef(found, name, sha)
  }
  return null
}

function keepRef(found: RemoteRefs, name: string, sha: string): void {
  if (name === 'HEAD') found.head_sha = sha
  else if (/^refs\/(heads|tags)\/./.test(name) && !name.endsWith('^{}')) found.refs.set(name, sha)
}

/**
 * Returns the default branch. A HEAD that is detached or names no branch is guessed as `git clone` does, but
 * a branch of a run is nobody's default: it may be the only one that is left when a branch was renamed. Null
 * when unknown.
 */
export function defaultBranch(remote: RemoteRefs): string | null {
  const { refs, head_branch, head_sha } = remote
  if (head_branch && refs.has(`refs/heads/${head_branch}`)) return head_branch
  const named = [...refs.keys()]
    .filter(name => name.startsWith('refs/heads/'))
    .map(name => name.slice('refs/heads/'.length))
  const branches = named.filter(name => !isRunBranch(name))
  const same = head_sha ? branches.filter(name => refs.get(`refs/heads/${name}`) === head_sha) : []
  const choice = same.length > 0 ? same : branches
  return (
    ['main', 'master'].find(name => choice.includes(name)) ??
    (choice.length === 1 || same.length > 0 ? choice[0] : undefined) ??
    null
  )
}
