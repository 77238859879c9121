import { gitErrorFrom } from '../process/git-error.ts'
import { type GitHost, mirrorPath } from '../process/git-host.ts'
import { type GitCall, ownIdentity, startGit } from '../process/run-git.ts'
import { isSha } from '../refs/ref-name.ts'

/** How long the service searches for objects that a client names. */
const SEARCH_MS = 20_000

/** The branches and tags of a mirror: their names, and the objects that they point to. Texts are latin1. */
type PublicRefs = { names: Set<string>; objects: Set<string> }

type Search = { git_dir: string; signal: AbortSignal }

export async function publicRefs(
  host: GitHost,
  repository_id: number,
  signal: AbortSignal,
): Promise<PublicRefs> {
  const refs: PublicRefs = { names: new Set(), objects: new Set() }
  const format = '--format=%(objectname) %(*objectname) %(refname)'
  const args = ['for-each-ref', format, 'refs/heads', 'refs/tags']
  await readLines(host, { git_dir: mirrorPath(host, repository_id), args, signal }, line => {
    const [object = '', peeled = '', name = ''] = line.split(' ')
    for (const sha of [object, peeled].filter(isSha)) refs.objects.add(sha)
    refs.names.add(name)
    return false
  })
  return refs
}

/**
 * Returns those of the objects that no branch and no tag reaches, and those that do not exist: for a client
 * they are the same. Of `marks` only commits count, everything else is hidden. GitError, `timeout` after 20
 * s.
 */
export async function hiddenObjects(
  host: GitHost,
  repository_id: number,
  requested: { wants: ReadonlySet<string>; marks: ReadonlySet<string>; refs: PublicRefs },
  signal: AbortSignal,
): Promise<Set<string>> {
  const { wants, marks, refs } = requested
  const search: Search = { git_dir: mirrorPath(host, repository_id), signal }
  const unknown = [...wants, ...marks].filter(sha => !refs.objects.has(sha))
  if (unknown.length === 0) return new Set()
  const types = await typesOf(host, search, unknown)
  const commits = unknown.filter(sha => types.get(sha) === 'commit')
  const others = unknown.filter(sha => wants.has(sha) && types.has(sha) && types.get(sha) !== 'commit')
  const hidden = new Set(unknown.filter(sha => types.get(sha) !== 'commit'))
  for (const sha of await hiddenCommits(host, search, commits)) hidden.add(sha)
  for (const sha of others) hidden.delete(sha)
  for (const sha of await hiddenContents(host, search, others)) hidden.add(sha)
  return hidden
}

/** Returns the types of the objects that exist. */
async function typesOf(host: GitHost, search: Search, names: string[]): Promise<Map<string, string>> {
  const types = new Map<string, string>()
  const args = ['cat-file', '--batch-check=%(objectname) %(objecttype)']
  await readLines(host, { ...search, args, stdin: listOf(names) }, line => {
    if (!line.endsWith(' missing')) types.set(line.slice(0, 40), line.slice(41))
    return false
  })
  return types
}

/** Walks only what is newer than the oldest of the commits. */
async function hiddenCommits(host: GitHost, search: Search, commits: string[]): Promise<Set<string>> {
  const hidden = new Set<string>()
  if (commits.length === 0) return hidden
  const requested = new Set(commits)
  const args = ['rev-list', '--stdin', '--not', '--branches', '--tags']
  await readLines(host, { ...search, args, stdin: listOf(commits), timeout_ms: SEARCH_MS }, line => {
    if (requested.has(line)) hidden.add(line)
    return hidden.size === requested.size
  })
  return hidden
}

/** Starts at the newest commits, which quickly finds what a checkout of a partial clone requests. */
async function hiddenContents(host: GitHost, search: Search, names: string[]): Promise<Set<string>> {
  const missing = new Set(names)
  if (missing.size === 0) return missing
  const args = [
    'rev-list',
    '--objects',
    '--no-object-names',
    '--in-commit-order',
    '--branches',
    '--tags',
    '--',
  ]
  await readLines(host, { ...search, args, timeout_ms: SEARCH_MS }, line => {
    missing.delete(line)
    return missing.size === 0
  })
  return missing
}

const listOf = (names: string[]) => names.map(sha => `${sha}\n`).join('')

/**
 * Reads lines until `enough` returns true. Rejects as `runGit`; git must succeed unless it was left early.
 */
async function readLines(host: GitHost, call: GitCall, enough: (line: string) => boolean): Promise<void> {
  const { child, done } = startGit(host, ownIdentity(host), call, { output: 'pipe' })
  const ended = done.then(
    result => ({ result, error: null }),
    (error: unknown) => ({ result: null, error }),
  )
  let rest = ''
  for await (const chunk of (child.stdout?.setEncoding('latin1') ?? []) as AsyncIterable<string>) {
    const lines = (rest + chunk).split('\n')
    rest = lines.pop() ?? ''
    // Git ends by itself when its output is closed.
    if (lines.some(enough)) return
  }
  const { result, error } = await ended
  if (result === null) throw error
  if (result.exit_code !== 0) throw gitErrorFrom(result.stderr, 'the objects cannot be searched')
}
