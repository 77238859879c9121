import { setImmediate as nextTick } from 'node:timers/promises'
import { type CacheOwner, inObjectCache } from '../objects/object-cache.ts'
import { withObjectReader } from '../objects/object-reader.ts'
import { type EntryKind, entryNamed, entryOf, pageOfTree, type TreeEntry } from '../objects/tree-entries.ts'
import { GitError } from '../process/git-error.ts'
import type { GitHost } from '../process/git-host.ts'
import { git } from '../process/run-git.ts'
import { bytesOfPath, shownPath, shownText } from '../process/shown-text.ts'
import { asSha } from '../refs/ref-name.ts'
import { fields } from './changes.ts'

/** An entry of a folder; `target` of a link is null when it is too long. */
type FileEntry = {
  path: string
  kind: EntryKind
  executable: boolean
  size: number | null
  target: string | null
  commit: string | null
}
export type FolderPage = { items: (FileEntry & { name: string })[]; total: number; complete: boolean }
/** `bytes`: the beginning of a file, null for everything else. */
export type FileContent = FileEntry & { bytes: Buffer | null }
/** Why a path does not lead to what was requested. */
export type PathProblem = { problem: 'missing' | 'no_folder' | 'is_folder' }

type FolderRequest = { path: string; q: string | undefined; skip: number; limit: number }

const WHAT = 'the files cannot be read'
const MAX_TARGET_BYTES = 4_096
const MAX_SEARCHED_BYTES = 16 * 1024 ** 2
const LINES_AT_A_TIME = 20_000

/**
 * Lists one folder of a tree, or the paths below it that contain `q`. `root`: a tree or commit. At most three
 * git processes, whatever the number of entries; links are not followed. GitError `corrupt` when objects are
 * missing, `timeout`, `failed`.
 */
export async function listFolder(
  host: GitHost,
  kept: CacheOwner,
  root: string,
  { path, q, ...window }: FolderRequest,
): Promise<FolderPage | PathProblem> {
  const found = await find(host, kept, root, path)
  if (found === null) return { problem: 'missing' }
  if (found.tree === null) return { problem: 'no_folder' }
  const part =
    q === undefined
      ? { ...(await pageOfTree(found.tree.bytes, window)), complete: true }
      : await search(host, kept, found.tree.sha, q.toLowerCase(), window)
  const described = await describe(host, kept, part.entries)
  const items = described.map(({ name, ...entry }) => ({
    name: shownPath(name.subarray(name.lastIndexOf('/') + 1)),
    ...entry,
    path: shownPath(found.path.length === 0 ? name : Buffer.concat([found.path, SLASH, name])),
  }))
  return { items, total: part.total, complete: part.complete }
}

/** Reads one file of a tree, at most its first `max_bytes`. `root` and errors as for `listFolder`. */
export async function readTreeFile(
  host: GitHost,
  kept: CacheOwner,
  root: string,
  path: string,
  max_bytes: number,
): Promise<FileContent | PathProblem> {
  const found = await find(host, kept, root, path)
  if (found === null) return { problem: 'missing' }
  if (found.entry === null || found.entry.kind === 'folder') return { problem: 'is_folder' }
  const [described] = await describe(host, kept, [found.entry])
  if (described === undefined) return { problem: 'missing' }
  const { name: _name, ...entry } = described
  const bytes = entry.kind === 'file' ? await readBlob(host, kept, found.entry.sha, max_bytes) : null
  return { ...entry, path: shownPath(found.path), bytes }
}

const SLASH = Buffer.from('/')

/** `entry`: null for the root. `tree`: of a folder. */
type FoundEntry = { path: Buffer; entry: TreeEntry | null; tree: { sha: string; bytes: Buffer } | null }

/** A path that reads like a quoted one is itself first, because a file may have such a name. */
async function find(host: GitHost, kept: CacheOwner, root: string, path: string): Promise<FoundEntry | null> {
  const quoted = bytesOfPath(path)
  return (
    (await walk(host, kept, root, Buffer.from(path))) ?? (quoted && (await walk(host, kept, root, quoted)))
  )
}

async function walk(host: GitHost, kept: CacheOwner, root: string, path: Buffer): Promise<FoundEntry | null> {
  const names = path.length === 0 ? [] : splitAtSlashes(path)
  const found: FoundEntry = { path, entry: null, tree: null }
  let missing = false
  await withObjectReader(host, inObjectCache(host, kept), reader =>
    reader.read([`${asSha(root)}^{tree}`], async (sha, type, bytes) => {
      if (type !== 'tree') throw new GitError('corrupt', `${WHAT}: a tree is missing`)
      const name = names.shift()
      found.tree = name === undefined ? { sha, bytes } : null
      if (name === undefined) return []
      found.entry = await entryNamed(bytes, name)
      missing = found.entry === null || (names.length > 0 && found.entry.kind !== 'folder')
      return found.entry?.kind === 'folder' ? [found.entry.sha] : []
    }),
  )
  return missing ? null : found
}

function splitAtSlashes(path: Buffer): Buffer[] {
  const names: Buffer[] = []
  for (let at = 0; at <= path.length; ) {
    const end = path.indexOf(SLASH, at)
    names.push(path.subarray(at, end < 0 ? path.length : end))
    at = end < 0 ? path.length + 1 : end + 1
  }
  return names
}

/**
 * Finds paths below a folder, in git's order. `complete`: false when there are more paths than are searched.
 */
async function search(
  host: GitHost,
  kept: CacheOwner,
  tree: string,
  q: string,
  { skip, limit }: { skip: number; limit: number },
) {
  const output = await git(host, WHAT, {
    ...inObjectCache(host, kept),
    args: ['ls-tree', '-r', '-z', '--format=%(objectmode) %(objectname)%x09%(path)', tree],
    max_output_bytes: MAX_SEARCHED_BYTES,
    on_overflow: 'cut',
  })
  const complete = output.length < MAX_SEARCHED_BYTES
  const matching: Buffer[] = []
  const lines = fields(complete ? output : output.subarray(0, output.lastIndexOf(0) + 1))
  for (const [i, line] of lines.entries()) {
    if (
      line
        .toString('utf8', line.indexOf(9) + 1)
        .toLowerCase()
        .includes(q)
    )
      matching.push(line)
    if (i % LINES_AT_A_TIME === LINES_AT_A_TIME - 1) await nextTick()
  }
  return { entries: matching.slice(skip, skip + limit).map(entryOfLine), total: matching.length, complete }
}

function entryOfLine(line: Buffer): TreeEntry {
  const tab = line.indexOf(9)
  const [mode = '', sha = ''] = line.toString('latin1', 0, tab).split(' ')
  return entryOf(mode, line.subarray(tab + 1), sha)
}

type DescribedEntry = Omit<FileEntry, 'path'> & { name: Buffer; path: string }

/** Adds the sizes of files and the targets of links, with one process for all of each. */
async function describe(host: GitHost, kept: CacheOwner, entries: TreeEntry[]): Promise<DescribedEntry[]> {
  const read = (args: string[], shas: string[]) =>
    git(host, WHAT, { ...inObjectCache(host, kept), args, stdin: shas.map(sha => `${sha}\n`).join('') })
  const blobs = entries.filter(({ kind }) => kind === 'file' || kind === 'link').map(({ sha }) => sha)
  const sizes = new Map<string, number>()
  const lines =
    blobs.length === 0
      ? ''
      : (await read(['cat-file', '--batch-check=%(objectname) %(objectsize)'], blobs)).toString('latin1')
  for (const [, sha = '', size] of lines.matchAll(/^([0-9a-f]{40}) (\d+)$/gm)) sizes.set(sha, Number(size))
  if (blobs.some(sha => !sizes.has(sha))) throw new GitError('corrupt', `${WHAT}: a file is missing`)
  const links = entries
    .filter(({ kind, sha }) => kind === 'link' && (sizes.get(sha) ?? 0) <= MAX_TARGET_BYTES)
    .map(({ sha }) => sha)
  const targets =
    links.length === 0 ? new Map<string, string>() : targetsIn(await read(['cat-file', '--batch'], links))
  return entries.map(({ name, kind, executable, sha }) => ({
    name,
    path: '',
    kind,
    executable,
    size: kind === 'file' ? (sizes.get(sha) ?? null) : null,
    target: kind === 'link' ? (targets.get(sha) ?? null) : null,
    commit: kind === 'submodule' ? sha : null,
  }))
}

function targetsIn(output: Buffer): Map<string, string> {
  const targets = new Map<string, string>()
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(10, at)
    const [sha = '', , size] = output.toString('latin1', at, end).split(' ')
    const next = end + 1 + Number(size)
    targets.set(sha, shownText(output.subarray(end + 1, next)))
    at = next + 1
  }
  return targets
}

async function readBlob(host: GitHost, kept: CacheOwner, sha: string, max_bytes: number): Promise<Buffer> {
  // The command has no header, which would have to be removed from a large output.
  return git(host, WHAT, {
    ...inObjectCache(host, kept),
    args: ['cat-file', 'blob', asSha(sha)],
    max_output_bytes: max_bytes,
    on_overflow: 'cut',
  })
}
