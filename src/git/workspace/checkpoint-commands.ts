import { readFileSync } from 'node:fs'
import { shellQuote as quote } from '../../core/text/shell-quote.ts'
import { EMPTY_FILE, relaxedChecks } from '../objects/object-checks.ts'
import { isSha } from '../refs/ref-name.ts'
import { excludePatterns } from './exclude-patterns.ts'

/**
 * Command lines for bash in a sandbox of their own, in which nothing of the agent runs: its workspace is shown there read-only, and git
 * writes into a folder that the agent cannot see. So what a snapshot says is what git found.
 */
export type CheckpointPlace = {
  /** The workspace, read-only. */
  files: string
  /** Folder of the sandbox's user where git keeps index and objects. */
  shadow: string
  /** Bare repositories whose objects are borrowed: the mirror, and what was kept of the run already. */
  mirror: string | null
  kept: string | null
  /** The commit that the run builds on; null without a repository. */
  base_sha: string | null
  /** Bytes of one file, and of all objects that are taken at once. */
  max_file_bytes: number
  max_bytes: number
}

const SCRIPT = readFileSync(new URL('./inside/checkpoint.sh', import.meta.url), 'utf8')

/** How the files came to be: our own fresh checkout of `sha`, what should be `tree`, or anything. `without`: paths that are not looked at. */
export type Prepared = ({ from: 'clone'; sha: string } | { from: 'tree'; tree: string } | { from: 'empty' }) & {
  without?: readonly string[]
}

/** Defines everything in the shell that runs it, makes the shadow repository anew, and takes the first snapshot: `parseSnapshot`. */
export function prepareCommand(place: CheckpointPlace, how: Prepared): string {
  const known = how.from === 'clone' ? how.sha : how.from === 'tree' ? how.tree : ''
  const before = { tree: 'none', head: how.from === 'clone' ? how.sha : null }
  const without = quote(excludePatterns(how.without ?? []))
  return `${definitions(place)}\nwithout=${without}\nquietly prepare ${how.from} ${known} && ${captureCommand(before)} >/dev/null && ${concludeCommand(before)}`
}

/** For a shell that lost its functions: defines them again, and touches nothing. */
export const againCommand = (place: CheckpointPlace, command: string): string => `${definitions(place)}\n${command}`

/**
 * In the same shell, after `prepareCommand`: what the files hold is taken in, and when it has ended they may change again. `before`: what the
 * snapshot before said. Answers SAME or CHANGED; after CHANGED comes `concludeCommand`.
 */
export const captureCommand = (before: Pick<Snapshot, 'head'>): string => `quietly capture ${before.head ?? 'none'}`
export const SAME = 'same'
export const CHANGED = 'changed'

/**
 * Beside one of the others that takes long: a named pipe in the place of a file that git reads holds git up until somebody writes. Opened
 * here it has an end, again and again for a few seconds, as git comes by. Pipes of other names are no matter of git's.
 */
export const unblockCommand = ({ files }: Pick<CheckpointPlace, 'files'>): string =>
  `find ${quote(files)} -name .git -prune -o -type p -name '.git*' -exec bash -c ${quote(OPEN_AND_CLOSE)} bash {} +`

const OPEN_AND_CLOSE = 'for i in {1..60}; do for p; do exec 3<>"$p"; exec 3>&-; done; sleep 0.05; done'

/** Names what was taken in: `parseSnapshot`. */
export const concludeCommand = (before: Pick<Snapshot, 'tree' | 'head'>): string =>
  `quietly conclude ${before.tree} ${before.head ?? 'none'}`

export type Snapshot = {
  /** Names all files by their content: equal trees, equal files. */
  tree: string
  /** The commit that the workspace stands at, and its branch; null for none. */
  head: string | null
  branch: string | null
  /** What is not in it, the first hundred. */
  left_out: LeftOut[]
}
/** `unreadable`: a file or folder (ends in `/`) that may not be read, or whose name git refuses. */
export type LeftOut = { path: string; reason: 'too_large' | 'unreadable' }

/** Null when that is no answer of a snapshot. */
export function parseSnapshot(output: Uint8Array): Snapshot | null {
  const text = Buffer.from(output).toString('utf8')
  const [mark, tree = '', head = '', branch = '', ...left_out] = text.split('\0')
  if (mark !== 'agentrun-snapshot' || left_out.pop() !== '' || !isSha(tree)) return null
  return { tree, head: isSha(head) ? head : null, branch: branch === '' ? null : branch, left_out: left_out.map(leftOut) }
}

function leftOut(text: string): LeftOut {
  const [, reason, path = ''] = /^(too_large|unreadable):(.*)$/s.exec(text) ?? []
  return { path, reason: reason === 'too_large' ? 'too_large' : 'unreadable' }
}

export type PackInput = {
  /** Tree of the commit that the pack is made for, and its parents. */
  tree: string
  parents: string[]
  /** Further trees and commits that it holds. */
  also: string[]
  /** Commits whose objects are there already. */
  without: string[]
}

/** Writes a thin pack to standard output. Which commit it is for stands in standard error: `parseTip`. */
export function packCommand(place: CheckpointPlace, { tree, parents, also, without }: PackInput): string {
  return `${definitions(place)}\npack ${tree} '${parents.join(' ')}' '${also.join(' ')}' '${without.join(' ')}'`
}

export function parseTip(errors: Uint8Array): string | null {
  return /^agentrun-tip ([0-9a-f]{40})$/m.exec(Buffer.from(errors).toString('latin1'))?.[1] ?? null
}

function definitions(place: CheckpointPlace): string {
  const values = {
    files: place.files,
    shadow: place.shadow,
    mirror: place.mirror ?? '',
    kept: place.kept ?? '',
    base: place.base_sha ?? '',
    max_file_bytes: place.max_file_bytes,
    max_bytes: place.max_bytes,
    relaxed: relaxedChecks,
    no_bytes: EMPTY_FILE,
    ...{ written_at: 0, careful: '', changed: '', quick: '' },
  }
  return [...Object.entries(values).map(([name, value]) => `${name}=${quote(String(value))}`), SCRIPT].join('\n')
}
