import { readMirror } from '../mirrors/mirror-refs.ts'
import type { GitHost } from '../process/git-host.ts'
import { asSha } from '../refs/ref-name.ts'

const MAX_BYTES = 64 * 1024 ** 2

/**
 * Returns the paths of a commit that are `wanted`, files and symbolic links, of its first 64 MiB of paths.
 * GitError as of `readFilesAt`.
 */
export async function listPaths(
  host: GitHost,
  repository_id: number,
  sha: string,
  wanted: (path: string) => boolean,
): Promise<string[]> {
  const output = await readMirror(host, repository_id, 'files cannot be listed', {
    args: ['ls-tree', '-r', '-z', '--name-only', asSha(sha)],
    max_output_bytes: MAX_BYTES,
    on_overflow: 'cut',
  })
  const whole = output.subarray(0, output.lastIndexOf(0) + 1)
  return whole.toString('utf8').split('\0').filter(wanted)
}
