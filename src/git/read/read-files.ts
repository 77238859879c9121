import { markSuspect, readMirror } from '../mirrors/mirror-refs.ts'
import { GitError } from '../process/git-error.ts'
import type { GitHost } from '../process/git-host.ts'
import { asSha } from '../refs/ref-name.ts'

/**
 * A file of a commit; `bytes` is its beginning when it is longer than requested, `size` always its whole
 * length.
 */
export type FileAt = { bytes: Buffer; size: number; truncated: boolean }

/**
 * Reads files of a commit from the mirror, following symbolic links within the tree; a missing path or a
 * folder is absent from the map. A mirror that lost the commit itself is marked for examination. One git
 * process, and one more for each file that is much longer than `max_bytes`. GitError `failed`, `corrupt`.
 */
export async function readFilesAt(
  host: GitHost,
  repository_id: number,
  sha: string,
  paths: string[],
  max_bytes: number,
): Promise<Map<string, FileAt>> {
  const commit = asSha(sha)
  const found = new Map<string, FileAt>()
  let rest = paths.filter(path => path !== '' && !/[\n\0]/.test(path) && !/^\.{1,2}(\/|$)/.test(path))
  while (rest.length > 0) {
    const output = await readMirror(host, repository_id, 'files cannot be read', {
      args: ['cat-file', '--batch', '--follow-symlinks'],
      // The root tree is requested too: it shows whether the mirror has the commit at all.
      stdin: `${rest.map(path => `${commit}:${path}\n`).join('')}${commit}^{tree}\n`,
      max_output_bytes: rest.length * (max_bytes + 4_500) + 1_000_000,
      on_overflow: 'cut',
    })
    if (output.subarray(-60).toString('latin1').endsWith(`${commit}^{tree} missing\n`))
      await markSuspect(host, repository_id)
    const count = takeFiles(output, rest, max_bytes, found)
    if (count === 0) throw new GitError('failed', 'files cannot be read: git returned nothing')
    rest = rest.slice(count)
  }
  return found
}

/**
 * Parses the complete responses and returns how many there were; the last may be cut off within a long file.
 */
function takeFiles(output: Buffer, paths: string[], max_bytes: number, found: Map<string, FileAt>): number {
  let at = 0
  for (const [i, path] of paths.entries()) {
    const end = output.indexOf(10, at)
    if (end < 0) return i
    const header = output.toString('latin1', at, end)
    at = end + 1
    const [, type, length] =
      /^[0-9a-f]{40} (blob|tree|commit|tag) (\d+)$/.exec(header) ??
      /^(dangling|symlink|loop|notdir) (\d+)$/.exec(header) ??
      []
    if (length === undefined) continue
    const size = Number(length)
    const bytes = output.subarray(at, Math.min(at + size, at + max_bytes))
    if (type === 'blob' && bytes.length === Math.min(size, max_bytes))
      found.set(path, { bytes, size, truncated: size > max_bytes })
    at += size + 1
    if (at > output.length) return i + 1
  }
  return paths.length
}
