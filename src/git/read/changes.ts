import { readMirror } from '../mirrors/mirror-refs.ts'
import { type CacheOwner, inObjectCache } from '../objects/object-cache.ts'
import { NO_FILES } from '../objects/object-checks.ts'
import type { Objects } from '../objects/objects.ts'
import { GitError } from '../process/git-error.ts'
import type { GitHost } from '../process/git-host.ts'
import { type GitCall, git } from '../process/run-git.ts'
import { shownPath, shownText } from '../process/shown-text.ts'
import { asSha } from '../refs/ref-name.ts'

type FileStatus = 'added' | 'modified' | 'deleted' | 'renamed' | 'copied' | 'type_changed'

type ChangedFile = {
  /** UTF-8 unchanged; a name that is not UTF-8 as git quotes it: `"caf\351.txt"`. */
  path: string
  old_path: string | null
  status: FileStatus
  /** Lines; null for binary files. */
  additions: number | null
  deletions: number | null
  binary: boolean
}

export type Changes = {
  files: ChangedFile[]
  files_changed: number
  additions: number
  deletions: number
  /** Unified diff of all files, truncated at the end of a line; invalid UTF-8 is shown as U+FFFD. */
  patch: string
  patch_truncated: boolean
}

type Limits = { max_patch_bytes: number }

/**
 * Returns what `head_sha` changes, as a pull request shows it: since its merge base with `base_sha`; against
 * `base_sha` itself for unrelated histories. Renames are detected. GitError `corrupt`, `timeout`, `failed`.
 */
export async function readChanges(
  host: GitHost,
  objects: Objects,
  base_sha: string | null,
  head_sha: string,
  limits: Limits,
): Promise<Changes> {
  const head = asSha(head_sha)
  const read: Reader = call => readMirror(host, objects, UNREADABLE, call)
  if (base_sha === null) return compare(read, [NO_FILES, head], limits)
  const base = asSha(base_sha)
  try {
    return await compare(read, [`${base}...${head}`], limits)
  } catch (error) {
    // Without a common ancestor git fails. Any other failure repeats below.
    if (!(error instanceof GitError && error.code === 'failed')) throw error
    return compare(read, [base, head], limits)
  }
}

/**
 * Returns the difference of two trees in the object cache of a run, in either order. GitError `corrupt`,
 * `timeout`, `failed`.
 */
export async function readCachedChanges(
  host: GitHost,
  kept: CacheOwner,
  from_tree: string,
  to_tree: string,
  limits: Limits,
): Promise<Changes> {
  const read: Reader = call => git(host, UNREADABLE, { ...inObjectCache(host, kept), ...call })
  return compare(read, [asSha(from_tree), asSha(to_tree)], limits)
}

type Reader = (call: GitCall) => Promise<Buffer>
const UNREADABLE = 'the change cannot be read'
/** A longer list of files is read apart from the patch. */
const LIST_BYTES = 2 * 1024 ** 2

async function compare(read: Reader, trees: string[], options: Limits): Promise<Changes> {
  const { files, patch } = await readListAndPatch(read, trees, options)
  // A patch of exactly the limit may be complete or not; it counts as truncated.
  const patch_truncated = patch.length >= options.max_patch_bytes
  return {
    files,
    files_changed: files.length,
    additions: files.reduce((sum, file) => sum + (file.additions ?? 0), 0),
    deletions: files.reduce((sum, file) => sum + (file.deletions ?? 0), 0),
    patch: shownText(patch_truncated ? patch.subarray(0, patch.lastIndexOf(10) + 1) : patch),
    patch_truncated,
  }
}

/** `patch`: its first `max_patch_bytes`. One git process, which finds the renames once. */
async function readListAndPatch(read: Reader, trees: string[], { max_patch_bytes }: Limits) {
  const range = [...trees, '--']
  const diff = [
    'diff',
    '--no-ext-diff',
    '--no-textconv',
    '--no-color',
    '--find-renames',
    '--ignore-submodules=none',
  ]
  const cut = (max_output_bytes: number) => ({ max_output_bytes, on_overflow: 'cut' as const })
  const both = await read({
    args: [...diff, '--raw', '--numstat', '--patch', '-z', ...range],
    ...cut(LIST_BYTES + max_patch_bytes),
  })
  const { files, end } = parseChangedFiles(both)
  // A NUL separates the patch, which is as without -z.
  if (end <= LIST_BYTES) return { files, patch: both.subarray(end + 1, end + 1 + max_patch_bytes) }
  const [listed, patch] = await Promise.all([
    read({ args: [...diff, '--raw', '--numstat', '-z', ...range] }),
    read({ args: [...diff, '--patch', ...range], ...cut(max_patch_bytes) }),
  ])
  return { files: parseChangedFiles(listed).files, patch }
}

const STATUS: Record<string, FileStatus> = {
  A: 'added',
  M: 'modified',
  D: 'deleted',
  R: 'renamed',
  C: 'copied',
  T: 'type_changed',
}

/**
 * Parses `git diff --raw --numstat -z`: first all entries that start with a colon, then the line counts in
 * the same order. `end`: the byte behind them.
 */
function parseChangedFiles(output: Buffer): { files: ChangedFile[]; end: number } {
  const files: ChangedFile[] = []
  let at = 0
  const next = (): Buffer => {
    const end = output.indexOf(0, at)
    const field = output.subarray(at, end < 0 ? output.length : end)
    at = end < 0 ? output.length : end + 1
    return field
  }
  while (output[at] === 58) {
    const letter = next().toString('latin1').split(' ')[4]?.[0] ?? 'M'
    const two = letter === 'R' || letter === 'C'
    const old = next()
    const path = two ? next() : old
    files.push({
      path: shownPath(path),
      old_path: two ? shownPath(old) : null,
      status: STATUS[letter] ?? 'modified',
      additions: null,
      deletions: null,
      binary: true,
    })
  }
  for (const file of files) {
    const counts = next().toString('latin1').split('\t')
    if (counts[0] !== undefined && counts[0] !== '-') {
      file.additions = Number(counts[0])
      file.deletions = Number(counts[1])
      file.binary = false
    }
    // A renamed file is named behind its counts.
    if (counts[2] === '') for (const _ of ['old', 'new']) next()
  }
  return { files, end: at }
}

/** Splits at NULs; the last field ends with a NUL too. */
export function fields(output: Buffer): Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0, at)
    found.push(output.subarray(at, end < 0 ? output.length : end))
    at = end < 0 ? output.length : end + 1
  }
  return found
}
