import { readFileSync } from 'node:fs'
import { shellQuote as quote } from '../../core/text/shell-quote.ts'
import { EMPTY_FILE, relaxedChecks } from '../objects/object-checks.ts'
import { asSha, isSha } from '../refs/ref-name.ts'
import { excludePatterns } from './exclude-patterns.ts'

/**
 * Command lines for bash in a separate sandbox, in which nothing of the agent runs: its workspace is mounted
 * there read-only, and git writes into a folder that the agent cannot see. So a snapshot contains exactly
 * what git found.
 */
export type CheckpointFolders = {
  /** The workspace, read-only. */
  files: string
  /** Folder of the sandbox's user where git keeps index and objects. */
  shadow: string
  /** Bare repositories whose objects are borrowed: the mirror, and the object cache of the run. */
  mirror: string | null
  kept: string | null
  /** The commit that the run builds on; null without a repository. */
  base_sha: string | null
  /** Maximum bytes of one file, and of all objects of one snapshot. */
  max_file_bytes: number
  max_bytes: number
}

const scriptOf = (name: string): string =>
  readFileSync(new URL(`./inside/${name}.sh`, import.meta.url), 'utf8')
const [SHADOW, CHECKPOINT, PACK] = [scriptOf('shadow'), scriptOf('checkpoint'), scriptOf('pack')]

/**
 * The origin of the files: the service's own fresh checkout of `sha`, which has that tree; presumably `tree`;
 * or anything. `without`: paths that are excluded.
 */
export type PreparedFiles = (
  | { from: 'clone'; sha: string; tree: string }
  | { from: 'tree'; tree: string }
  | { from: 'empty' }
) & {
  without?: readonly string[]
}

/**
 * Defines all functions in the shell that runs it, recreates the shadow repository, and takes the first
 * snapshot: `parseSnapshot`.
 */
export function prepareCommand(folders: CheckpointFolders, how: PreparedFiles): string {
  const known = how.from === 'clone' ? `${how.sha} ${how.tree}` : how.from === 'tree' ? how.tree : ''
  const before = { tree: 'none', head: how.from === 'clone' ? how.sha : null }
  const without = quote(excludePatterns(how.without ?? []))
  return `${definitions(folders)}\nwithout=${without}\nquietly prepare ${how.from} ${known} && ${snapshotCommand(before)}`
}

/** Returns a command for a shell that lost its functions: it defines them again, and changes nothing. */
export const redefineCommand = (folders: CheckpointFolders, command: string): string =>
  `${definitions(folders)}\n${command}`

/**
 * Returns a command for the same shell, after `prepareCommand`. `before`: the previous snapshot; a tree
 * `none` is named again. `small`: no file that may have changed was larger than `max_file_bytes`, so none is
 * searched for. When its output begins, with CAPTURED, the files may change again. The whole output is for
 * `parseSnapshot`, or CAPTURED alone: nothing has changed.
 */
export const snapshotCommand = (before: Pick<Snapshot, 'tree' | 'head'>, small = false): string =>
  `quietly snapshot ${before.head ?? 'none'} ${before.tree}${small ? ' small' : ''}`
export const CAPTURED = 'captured\0'

/**
 * Runs beside a command above that takes long: a named pipe instead of a file that git reads blocks git until
 * somebody writes. Opening and closing it here unblocks git, repeatedly for a few seconds. Git never opens
 * pipes with other names.
 */
export const unblockCommand = ({ files }: Pick<CheckpointFolders, 'files'>): string =>
  `find ${quote(files)} -name .git -prune -o -type p -name '.git*' -exec bash -c ${quote(OPEN_AND_CLOSE)} bash {} +`

const OPEN_AND_CLOSE = 'for i in {1..60}; do for p; do exec 3<>"$p"; exec 3>&-; done; sleep 0.05; done'

/** The files of a workspace at one moment. */
export type CapturedFiles = {
  /** The tree of all files: equal trees, equal files. */
  tree: string
  /** The commit that the workspace is at, and its branch; null for none. */
  head: string | null
  branch: string | null
  /** What is not included, the first hundred. */
  left_out: LeftOutPath[]
}

/** `number`: among the snapshots of this worker. */
export type Snapshot = CapturedFiles & { number: number }

/** `unreadable`: a file or folder (ends in `/`) that cannot be read, or whose name git refuses. */
type LeftOutPath = { path: string; reason: 'too_large' | 'unreadable' }

/**
 * `files_tree`: without ignored files that are in the tree because the workspace has committed them. Null
 * when the output is not that of a snapshot.
 */
export function parseSnapshot(output: Uint8Array): { found: CapturedFiles; files_tree: string } | null {
  const text = Buffer.from(output).toString('utf8')
  const [, mark, tree = '', files_tree = '', head = '', branch = '', ...left_out] = text.split('\0')
  if (mark !== 'agentrun-snapshot' || left_out.pop() !== '' || !isSha(tree)) return null
  const found = {
    tree,
    head: isSha(head) ? head : null,
    branch: branch === '' ? null : branch,
    left_out: left_out.map(leftOut),
  }
  return { found, files_tree }
}

function leftOut(text: string): LeftOutPath {
  const [, reason, path = ''] = /^(too_large|unreadable):(.*)$/s.exec(text) ?? []
  return { path, reason: reason === 'too_large' ? 'too_large' : 'unreadable' }
}

/**
 * Returns a command that adds the objects of the pack on its standard input, if `has_pack`, and brings the
 * index to `tree` unless that is null. What git knows of unchanged files stays.
 */
export function learnCommand(
  folders: CheckpointFolders,
  { tree, has_pack }: { tree: string | null; has_pack: boolean },
): string {
  const unpack = has_pack ? ['git unpack-objects -q'] : []
  const read = tree === null ? [] : [`rm -f -- "$shadow/index.lock" && git read-tree -i -m ${asSha(tree)}`]
  return `${environment(folders)}\n${[...unpack, ...read].join(' && ')}`
}

export type PackInput = {
  /** Tree of the commit that the pack is for, and its parents. */
  tree: string
  parents: string[]
  /** Further trees and commits that it contains. */
  also: string[]
  /** Commits whose objects exist already. */
  without: string[]
}

/** Writes a thin pack to standard output. The commit that it is for is in standard error: `parseTip`. */
export function packCommand(folders: CheckpointFolders, { tree, parents, also, without }: PackInput): string {
  return `${environment(folders)}\n${PACK}\npack ${tree} '${parents.join(' ')}' '${also.join(' ')}' '${without.join(' ')}'`
}

export function parseTip(errors: Uint8Array): string | null {
  return /^agentrun-tip ([0-9a-f]{40})$/m.exec(Buffer.from(errors).toString('latin1'))?.[1] ?? null
}

function definitions(folders: CheckpointFolders): string {
  const values = {
    mirror: folders.mirror ?? '',
    kept: folders.kept ?? '',
    base: folders.base_sha ?? '',
    max_file_bytes: folders.max_file_bytes,
    max_bytes: folders.max_bytes,
    relaxed: relaxedChecks,
    no_bytes: EMPTY_FILE,
    written_at: 0,
    careful: '',
    changed: '',
    quick: '',
    fresh: '',
  }
  return [environment(folders), assignments(values), CHECKPOINT].join('\n')
}

export const environment = ({ files, shadow }: CheckpointFolders): string =>
  [assignments({ files, shadow }), SHADOW].join('\n')

const assignments = (values: Record<string, string | number>): string =>
  Object.entries(values)
    .map(([name, value]) => `${name}=${quote(String(value))}`)
    .join('\n')
