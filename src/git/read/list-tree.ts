import { LONGEST_PATH } from '../../core/repositories/dependency-manifests.ts'
import { readMirror } from '../mirrors/mirror-refs.ts'
import type { GitHost } from '../process/git-host.ts'
import { asSha } from '../refs/ref-name.ts'

/** The files of a commit: path → id of its blob. `truncated`: there are more than these. */
export type TreeList = { files: Map<string, string>; truncated: boolean }

const BYTES_A_LINE = 60 + LONGEST_PATH

/**
 * Returns at most `max` files of a commit, without links and submodules, and without paths that are not plain
 * text. GitError as of `readFilesAt`.
 */
export async function listTree(
  host: GitHost,
  repository_id: number,
  sha: string,
  max: number,
): Promise<TreeList> {
  const output = await readMirror(host, repository_id, 'files cannot be listed', {
    args: ['ls-tree', '-r', '-z', '--format=%(objectmode) %(objectname)%x09%(path)', asSha(sha)],
    max_output_bytes: max * BYTES_A_LINE,
    on_overflow: 'cut',
  })
  const whole = output.subarray(0, output.lastIndexOf(0) + 1)
  const lines = whole.toString('utf8').split('\0').slice(0, -1)
  const found = lines.flatMap(line => {
    const [, blob, path] = /^100\d{3} ([0-9a-f]{40,64})\t([^\p{Cc}\ufffd]+)$/u.exec(line) ?? []
    return blob === undefined || path === undefined || path.length > LONGEST_PATH
      ? []
      : [[path, blob] as const]
  })
  return {
    files: new Map(found.slice(0, max)),
    truncated: found.length > max || whole.length < output.length,
  }
}
