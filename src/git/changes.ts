import { GitError } from './git-error.ts'
import type { GitHost } from './git-host.ts'
import { readMirror } from './mirror-refs.ts'
import { asSha } from './ref-name.ts'
import { shownPath, shownText } from './shown-text.ts'

export type FileStatus = 'added' | 'modified' | 'deleted' | 'renamed' | 'copied' | 'type_changed'

export type ChangedFile = {
  /** UTF-8 as it is; a name that is not UTF-8 as git quotes it: `"caf\351.txt"`. */
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
  /** Unified diff of all files, cut at the end of a line; bytes that are not UTF-8 are shown as U+FFFD. */
  patch: string
  patch_truncated: boolean
}

/** The tree of no files: what a repository without a commit is compared with. */
const NO_FILES = '4b825dc642cb6eb9a060e54bf8d69288fbee4904'

type Limits = { max_patch_bytes: number }

/**
 * What `head_sha` changes, as a pull request would show it: since it parted from `base_sha`, so that what the base has besides is no change;
 * against `base_sha` itself where they have nothing in common. Renames are found. GitError `corrupt`, `timeout`, `failed`.
 */
export async function readChanges(
  host: GitHost,
  repository_id: number,
  base_sha: string | null,
  head_sha: string,
  limits: Limits,
): Promise<Changes> {
  const head = asSha(head_sha)
  if (base_sha === null) return compare(host, repository_id, [NO_FILES, head], limits)
  const base = asSha(base_sha)
  try {
    return await compare(host, repository_id, [`${base}...${head}`], limits)
  } catch (error) {
    // Without a common ancestor git fails. Whatever else it was fails again.
    if (!(error instanceof GitError && error.code === 'failed')) throw error
    return compare(host, repository_id, [base, head], limits)
  }
}

async function compare(host: GitHost, repository_id: number, commits: string[], options: Limits): Promise<Changes> {
  const range = [...commits, '--']
  const diff = ['diff', '--no-ext-diff', '--no-textconv', '--no-color', '--find-renames', '--ignore-submodules=none']
  const [listed, patch] = await Promise.all([
    readMirror(host, repository_id, 'the change cannot be read', { args: [...diff, '--raw', '--numstat', '-z', ...range] }),
    readMirror(host, repository_id, 'the change cannot be read', {
      args: [...diff, '--patch', ...range],
      max_output_bytes: options.max_patch_bytes,
      on_overflow: 'cut',
    }),
  ])
  const files = parseChangedFiles(listed)
  // A patch of exactly the limit may be whole or not; it is called cut.
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

/** Reads `git diff --raw --numstat -z`: first all entries that start with a colon, then the line counts in the same order. */
export function parseChangedFiles(output: Buffer): ChangedFile[] {
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

/** The pieces between NULs; the last one is ended by a NUL too. */
export function fields(output: Buffer): Buffer[] {
  const found: Buffer[] = []
  for (let at = 0; at < output.length; ) {
    const end = output.indexOf(0, at)
    found.push(output.subarray(at, end < 0 ? output.length : end))
    at = end < 0 ? output.length : end + 1
  }
  return found
}
