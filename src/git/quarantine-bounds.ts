import { once } from 'node:events'
import { GitError } from './git-error.ts'
import type { GitHost } from './git-host.ts'
import type { Quarantine } from './quarantine.ts'
import { type GitCall, ownIdentity, startGit } from './run-git.ts'
import { TreeShapes } from './tree-shapes.ts'

const LIST_MS = 300_000
/** More than any known repository has. */
const MAX_OBJECTS = 25_000_000
/** Of one commit or tag, with its message and headers. */
const MAX_COMMIT_BYTES = 1024 ** 2
/** Of one tree: 300,000 entries and more. */
const MAX_TREE_BYTES = 16 * 1024 ** 2
const MAX_PARENTS = 128
/** A commit of fewer bytes has fewer parents. */
const PARENTS_BYTES = MAX_PARENTS * 48
/** Bytes, as Linux takes them. */
const MAX_PATH_BYTES = 4_095
/** Where the new trees are more than this together, as in the first fetch of a very large repository, only those of the tips are read. */
const ALL_TREES_BYTES = 64 * 1024 ** 2
/** Shapes that a process remembers. */
const MAX_KNOWN = 100_000

/**
 * Refuses objects in quarantine that are small and stand for more than anybody can check out, or than git on the host can examine: paths of a
 * tree, length of a path, bytes of a file, a commit or a tree, parents, objects. Nothing is walked: each tree is read once. `tips`: new commits
 * or tags, whose files are counted with everything that the repository has already. GitError `too_large`, `corrupt`, `timeout`.
 */
export async function checkBounds(host: GitHost, { call }: Quarantine, tips: string[], signal?: AbortSignal): Promise<void> {
  const options: Pick<GitCall, 'timeout_ms' | 'signal'> = { timeout_ms: LIST_MS, ...(signal && { signal }) }
  const found = await listNew(host, { ...call, env: { ...call.env, GIT_ALTERNATE_OBJECT_DIRECTORIES: '' }, ...options })
  const trees = found.tree_bytes <= ALL_TREES_BYTES ? found.trees : []
  await checkTrees(host, { ...call, ...options }, [...trees, ...found.large_commits, ...tips.map(sha => `${sha}^{tree}`)])
}

/** The same for what a tree, or the tree of a commit, stands for: nothing else of the quarantine is read. */
export async function checkTrees(host: GitHost, call: Omit<GitCall, 'args'>, names: string[]): Promise<void> {
  if (host.tree_shapes.size > MAX_KNOWN) host.tree_shapes.clear()
  const shapes = new TreeShapes(host.tree_shapes)
  const seen = new Set<string>()
  await readObjects(host, call, names, (sha, type, bytes) => {
    if (type === 'tree') seen.add(sha)
    if (type === 'tree') return shapes.add(sha, bytes).filter(folder => !host.tree_shapes.has(folder))
    if (type === 'commit') checkParents(sha, bytes)
    return []
  })
  shapes.settle()
  for (const sha of seen) {
    const problem = treeProblem(host, sha)
    if (problem !== null) throw new GitError('too_large', problem)
  }
}

/** Why a tree that was read is refused; null: it is not, or was never read. */
export function treeProblem(host: GitHost, tree: string): string | null {
  const shape = host.tree_shapes.get(tree)
  if (shape && shape.paths > host.max_paths) return `the tree ${tree} stands for more than ${host.max_paths} files (AGENTRUN_GIT_MAX_PATHS)`
  if (shape && shape.longest > MAX_PATH_BYTES) return `the tree ${tree} has a path of more than ${MAX_PATH_BYTES} bytes`
  return null
}

function checkParents(sha: string, bytes: Buffer): void {
  const header = bytes.subarray(0, Math.max(0, bytes.indexOf('\n\n'))).toString('latin1')
  if (header.split('\nparent ').length - 1 > MAX_PARENTS)
    throw new GitError('too_large', `the commit ${sha} has more than ${MAX_PARENTS} parents`)
}

type Listed = { trees: string[]; tree_bytes: number; large_commits: string[] }

/** Every object in quarantine, by its kind and size. */
async function listNew(host: GitHost, call: Omit<GitCall, 'args'>): Promise<Listed> {
  const found: Listed = { trees: [], tree_bytes: 0, large_commits: [] }
  const most: Record<string, number> = {
    blob: host.max_mirror_bytes,
    tree: MAX_TREE_BYTES,
    commit: MAX_COMMIT_BYTES,
    tag: MAX_COMMIT_BYTES,
  }
  let objects = 0
  const args = ['cat-file', '--batch-all-objects', '--unordered', '--batch-check=%(objecttype) %(objectsize) %(objectname)']
  await readOutput(
    host,
    { ...call, args },
    lineReader(line => {
      const [type = '', digits = '', sha = ''] = line.split(' ')
      const bytes = Number(digits)
      if (++objects > MAX_OBJECTS) throw new GitError('too_large', `there are more than ${MAX_OBJECTS} objects`)
      if (bytes > (most[type] ?? 0))
        throw new GitError('too_large', `the ${type} ${sha} has ${bytes} bytes, more than the ${most[type]} allowed`)
      if (type === 'tree') {
        found.tree_bytes += bytes
        if (found.tree_bytes <= ALL_TREES_BYTES) found.trees.push(sha)
      } else if (type === 'commit' && bytes > PARENTS_BYTES) found.large_commits.push(sha)
    }),
  )
  return found
}

function lineReader(onLine: (line: string) => void): (chunk: Buffer) => void {
  let rest = ''
  return chunk => {
    const lines = (rest + chunk.toString('latin1')).split('\n')
    rest = lines.pop() ?? ''
    for (const line of lines) onLine(line)
  }
}

/** Reads objects by one process; `onObject` returns the names of those to read besides. One that is missing is passed over. */
async function readObjects(
  host: GitHost,
  call: Omit<GitCall, 'args'>,
  names: string[],
  onObject: (sha: string, type: string, bytes: Buffer) => string[],
): Promise<void> {
  const asked = new Set(names)
  let waiting = asked.size
  if (waiting === 0) return
  let [chunks, length, needed]: [Buffer[], number, number] = [[], 0, 1]
  const read = (chunk: Buffer, ask: (names: string[]) => void) => {
    chunks.push(chunk)
    length += chunk.length
    if (length < needed) return
    const bytes = Buffer.concat(chunks)
    let at = 0
    for (;;) {
      const end = bytes.indexOf(10, at)
      needed = 1
      if (end < 0) break
      const [, sha = '', type = '', size = ''] = /^([0-9a-f]{40}) ([a-z]+) (\d+)$/.exec(bytes.toString('latin1', at, end)) ?? []
      const next = end + 1 + (size === '' ? 0 : Number(size) + 1)
      if (next > bytes.length) {
        needed = next - at
        break
      }
      const more = size === '' ? [] : onObject(sha, type, bytes.subarray(end + 1, next - 1)).filter(name => !asked.has(name))
      for (const name of more) asked.add(name)
      waiting += new Set(more).size - 1
      ask([...new Set(more)])
      at = next
    }
    chunks = [bytes.subarray(at)]
    length = bytes.length - at
    if (waiting === 0) ask([])
  }
  await readOutput(host, { ...call, args: ['cat-file', '--batch'] }, read, [...asked], () => waiting === 0)
}

type Reader = (chunk: Buffer, ask: (names: string[]) => void) => void

/** Has `read` see all output; what it throws ends git. `names` go to git's standard input, which ends when `isDone`. */
async function readOutput(host: GitHost, call: GitCall, read: Reader, names: string[] = [], isDone = () => true): Promise<void> {
  const stop = new AbortController()
  const signal = call.signal ? AbortSignal.any([call.signal, stop.signal]) : stop.signal
  const { child, done } = startGit(host, ownIdentity(host), { ...call, signal }, { input: 'pipe', output: 'pipe' })
  const { stdin, stdout } = child
  const ask = (more: string[]) => {
    if (more.length > 0) stdin?.write(`${more.join('\n')}\n`)
    if (isDone()) stdin?.end()
  }
  stdout?.on('data', (chunk: Buffer) => {
    try {
      read(chunk, ask)
    } catch (error) {
      stop.abort(error)
    }
  })
  const ended = stdout ? once(stdout, 'close') : Promise.resolve()
  ask(names)
  const { exit_code, stderr } = await done
  await ended
  signal.throwIfAborted()
  if (exit_code !== 0) throw new GitError('corrupt', `the objects cannot be read: ${stderr.trim().slice(-300)}`)
}
