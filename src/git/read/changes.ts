import { readMirror } from '../mirrors/mirror-refs.ts'
import { inObjectCache, type Kept } from '../objects/object-cache.ts'
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
 * Returns what `head_sha` changes, as a pull request shows it: since its merge base with `base_sha`; against `base_sha` itself for
 * unrelated histories. Renames are detected. GitError `corrupt`, `timeout`, `failed`.
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

/** Returns the difference of two trees in the object cache of a run, in either order. GitError `corrupt`, `timeout`, `failed`. */
export async function readCachedChanges(host: GitHost, kept: Kept, from_tree: string, to_tree: string, limits: Limits): Promise<Changes> {
  const read: Reader = call => git(host, UNREADABLE, { ...inObjectCache(host, kept), ...call })
  return compare(read, [asSha(from_tree), asSha(to_tree)], limits)
}

type Reader = (call: GitCall) => Promise<Buffer>
const UNREADABLE = 'the change cannot be read'

async function compare(read: Reader, trees: string[], options: Limits): Promise<Changes> {
  const range = [...trees, '--']
  const diff = ['diff', '--no-ext-diff', '--no-textconv', '--no-color', '--find-renames', '--ignore-submodules=none']
  const [listed, patch] = await Promise.all([
    read({ args: [...diff, '--raw', '--numstat', '-z', ...range] }),
    read({
      args: [...diff, '--patch', ...range],
      max_output_bytes: options.max_patch_bytes,
      on_overflow: 'cut',
    }),
  ])
  const files = parseChangedFiles(listed)
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

const STATUS: Record<string, FileStatus> = { A: 'added', M: 'modified', D: 'deleted', R: 'renamed', C: 'copied', T: 'type_changed' }

/** Parses `git diff --raw --numstat -z`: first all entries that start with a colon, then the line counts in the same order. */
function parseChangedFiles(output: Buffer): ChangedFile[] {
  const parts = fields(output)
  const files: ChangedFile[] = []
  let at = 0
  while (parts[at]?.[0] === 58) {
    const letter = parts[at]?.toString('latin1').split(' ')[4]?.[0] ?? 'M'
    const two = letter === 'R' || letter === 'C'
    const old = parts[at + 1] ?? Buffer.alloc(0)
    const path = (two ? parts[at + 2] : old) ?? old
    files.push({
      path: shownPath(path),
      old_path: two ? shownPath(old) : null,
      status: STATUS[letter] ?? 'modified',
      additions: null,
      deletions: null,
      binary: true,
    })
    at += two ? 3 : 2
  }
  for (const file of files) {
    const counts = parts[at]?.toString('latin1').split('\t') ?? []
    if (counts[0] !== undefined && counts[0] !== '-') {
      file.additions = Number(counts[0])
      file.deletions = Number(counts[1])
      file.binary = false
    }
    at += counts[2] === '' ? 3 : 1
  }
  return files
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
