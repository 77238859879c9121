import { NO_FILES } from '../objects/object-checks.ts'
import { parseTree, type TreeEntries, treeBytes } from '../objects/tree-text.ts'
import { type WrittenObject, writtenObject } from '../objects/written-object.ts'
import type { Change } from './changed-paths.ts'

/** Git has to examine all files: the message is the reason. */
export class NeedsGit extends Error {
  override name = 'NeedsGit'
}

type Leaf = Exclude<Change, { kind: 'folder' }>
/** What has changed in a folder. `names`: all names in it, if one was added or removed. */
type Folder = { names: Set<string> | null; folders: Map<string, Folder>; leaves: Map<string, Leaf> }

/** Objects by name. */
export type KnownObjects = {
  /** Null: it is not in memory. */
  get(sha: string): Buffer | null
  /** Reads further trees into memory; `more` returns those that are needed of one that was read. */
  loadTrees(trees: string[], more: (sha: string) => string[]): Promise<void>
  /** Reads files into memory, those that are not too large. */
  loadFiles(files: string[]): Promise<void>
}

/** The first change of a file of this size is stored as a difference too; that takes a process. */
const LARGE_BYTES = 16 * 1024

/** More bytes of trees than this would take the event loop too long. */
const MAX_TREE_BYTES = 2 * 1024 ** 2

/**
 * Returns the tree of the files of `tree` after `changes`, as `git add -A && git write-tree` would write it,
 * and the objects that it consists of, new ones and others. Rejects with NeedsGit where git decides.
 */
export async function changedTree(
  known: KnownObjects,
  tree: string,
  changes: readonly Change[],
): Promise<{ tree: string; objects: WrittenObject[] }> {
  const root = foldersOf(changes)
  const trees = new Trees(known)
  await loadFolders(trees, tree, root)
  await loadLargeFiles(trees, tree, root)
  const objects: WrittenObject[] = []
  return { tree: editTree(trees, tree, root, objects) ?? NO_FILES, objects }
}

/** The trees of one change. */
class Trees {
  readonly known: KnownObjects
  readonly #entries = new Map<string, TreeEntries>()
  #bytes = 0

  constructor(known: KnownObjects) {
    this.known = known
  }

  /** Null: it is not in memory. */
  read(sha: string): TreeEntries | null {
    if (sha === NO_FILES) return new Map()
    const parsed = this.#entries.get(sha)
    if (parsed) return parsed
    const bytes = this.known.get(sha)
    if (bytes === null) return null
    this.#bytes += bytes.length
    if (this.#bytes > MAX_TREE_BYTES) throw new NeedsGit('large folders')
    const entries = parseTree(bytes)
    this.#entries.set(sha, entries)
    return entries
  }
}

const emptyFolder = (): Folder => ({ names: null, folders: new Map(), leaves: new Map() })

function foldersOf(changes: readonly Change[]): Folder {
  const root = emptyFolder()
  for (const change of changes) {
    const parts = change.path === '' ? [] : change.path.split('/')
    const name = change.kind === 'folder' ? null : (parts.pop() ?? '')
    let folder = root
    for (const part of parts) {
      const next = folder.folders.get(part) ?? emptyFolder()
      folder.folders.set(part, next)
      folder = next
    }
    if (change.kind === 'folder') folder.names = change.names
    else if (name !== null) folder.leaves.set(name, change)
  }
  return root
}

/** Reads the trees of the changed folders, those that exist. */
async function loadFolders(trees: Trees, tree: string, root: Folder): Promise<void> {
  const wanted = new Map<string, Folder[]>()
  /** Returns the trees that are not in memory, of a folder and those in it. */
  const missingOf = (sha: string, folder: Folder): string[] => {
    const entries = trees.read(sha)
    if (entries === null) {
      wanted.set(sha, [...(wanted.get(sha) ?? []), folder])
      return [sha]
    }
    return [...folder.folders].flatMap(([name, inside]) => {
      const entry = entries.get(name)
      return entry?.mode === '40000' ? missingOf(entry.sha, inside) : []
    })
  }
  const missing = missingOf(tree, root)
  if (missing.length === 0) return
  await trees.known.loadTrees(missing, sha =>
    (wanted.get(sha) ?? []).flatMap(folder => missingOf(sha, folder)),
  )
}

/** Reads earlier versions of large files that have changed. */
async function loadLargeFiles(trees: Trees, tree: string, root: Folder): Promise<void> {
  const missing: string[] = []
  const visit = (sha: string, folder: Folder): void => {
    const entries = trees.read(sha) ?? new Map()
    for (const [name, inside] of folder.folders) {
      const entry = entries.get(name)
      if (entry?.mode === '40000') visit(entry.sha, inside)
    }
    for (const [name, leaf] of folder.leaves) {
      if (leaf.kind !== 'file' || leaf.content.length < LARGE_BYTES) continue
      const entry = entries.get(name)
      if (entry?.mode.startsWith('100') && trees.known.get(entry.sha) === null) missing.push(entry.sha)
    }
  }
  visit(tree, root)
  if (missing.length > 0) await trees.known.loadFiles(missing)
}

/** Returns the tree of a folder after its changes; null: nothing is in it. `sha`: the tree before. */
function editTree(trees: Trees, sha: string | null, folder: Folder, objects: WrittenObject[]): string | null {
  const before: TreeEntries | null = sha === null ? new Map() : trees.read(sha)
  if (before === null) throw new NeedsGit('a tree that is not stored')
  const entries: TreeEntries = new Map(before)
  for (const { mode } of entries.values())
    if (!MODES.has(mode)) throw new NeedsGit('modes that git writes no longer')
  if (folder.names !== null) removeMissing(entries, folder.names)
  for (const [name, leaf] of folder.leaves) editEntry(trees.known, entries, name, leaf, objects)
  for (const [name, inside] of folder.folders) {
    const entry = entries.get(name)
    if (entry?.mode === SUBMODULE) throw new NeedsGit('a submodule')
    const edited = editTree(trees, entry?.mode === '40000' ? entry.sha : null, inside, objects)
    if (edited === null) entries.delete(name)
    else {
      if (entry === undefined) requirePlainName(name, '40000')
      entries.set(name, { mode: '40000', sha: edited })
    }
  }
  if (entries.size === 0) return null
  const bytes = sha === null ? null : trees.known.get(sha)
  const base = bytes === null || sha === null ? null : { sha, bytes }
  const written = writtenObject('tree', treeBytes(entries), base)
  if (written.sha !== sha) objects.push(written)
  return written.sha
}

const MODES = new Set(['100644', '100755', '120000', '160000', '40000'])
const SUBMODULE = '160000'

function removeMissing(entries: TreeEntries, names: Set<string>): void {
  for (const [name, { mode }] of entries) {
    if (names.has(name)) continue
    if (mode === SUBMODULE) throw new NeedsGit('a submodule')
    entries.delete(name)
  }
}

function editEntry(
  known: KnownObjects,
  entries: TreeEntries,
  name: string,
  leaf: Leaf,
  objects: WrittenObject[],
): void {
  const entry = entries.get(name)
  if (entry?.mode === SUBMODULE) throw new NeedsGit('a submodule')
  const was_folder = entry?.mode === '40000'
  if (leaf.kind === 'file') {
    const earlier = entry === undefined || was_folder ? null : known.get(entry.sha)
    const base = entry === undefined || earlier === null ? null : { sha: entry.sha, bytes: earlier }
    const written = writtenObject('blob', leaf.content, base)
    if (entry?.sha === written.sha && entry.mode === leaf.mode) return
    requirePlainName(name, leaf.mode)
    entries.set(name, { mode: leaf.mode, sha: written.sha })
    if (entry?.sha !== written.sha) objects.push(written)
    return
  }
  // Git keeps what is in its index although it is ignored.
  const is_kept = leaf.kind === 'ignored folder' ? was_folder : leaf.kind === 'ignored file' && !was_folder
  if (entry !== undefined && is_kept) throw new NeedsGit('an ignored path with files of the repository')
  entries.delete(name)
}

/**
 * Names that git refuses, or takes for files of its own, on some system. The program that checks the objects
 * later has the same rules; names that are only similar are left to git.
 */
function requirePlainName(name: string, mode: string): void {
  const plain = [...name.toLowerCase()].filter(char => char > ' ' && char < '\x7f').join('')
  const is_own = /^(\.git|git~)/.test(plain) && !/^\.git(attributes|hub|ignore|keep|lab-ci\.yml)$/.test(name)
  const is_short_name = mode === '120000' && /~\d|^g|^\.git/i.test(plain)
  if (name === '' || name === '.' || name === '..' || /[/\\]/.test(name) || is_own || is_short_name)
    throw new NeedsGit('a name')
}
