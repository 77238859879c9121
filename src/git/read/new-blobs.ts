import { readMirror } from '../mirrors/mirror-refs.ts'
import type { Objects } from '../objects/objects.ts'
import type { GitHost } from '../process/git-host.ts'
import { shownPath } from '../process/shown-text.ts'
import { asSha } from '../refs/ref-name.ts'

/** Of more objects only the first ones are examined. */
const LIST_BYTES = 16 * 1024 ** 2

/**
 * Returns every version of a file that the commits from `base_sha` to `head_sha` add, with its size in bytes;
 * including those that they remove again. GitError `corrupt`, `timeout`, `failed`.
 */
export async function newBlobs(
  host: GitHost,
  objects: Objects,
  base_sha: string,
  head_sha: string,
): Promise<{ path: string; bytes: number }[]> {
  const what = 'the files of the commits cannot be read'
  const cut = { max_output_bytes: LIST_BYTES, on_overflow: 'cut' } as const
  const listed = await readMirror(host, objects, what, {
    args: ['rev-list', '--objects', `${asSha(base_sha)}..${asSha(head_sha)}`],
    ...cut,
  })
  const sized = await readMirror(host, objects, what, {
    args: ['cat-file', '--batch-check=%(objecttype) %(objectsize) %(rest)'],
    stdin: listed.subarray(0, listed.lastIndexOf(10) + 1),
    ...cut,
  })
  return sized
    .toString('latin1')
    .split('\n')
    .flatMap(line => {
      const [, bytes, path] = /^blob (\d+) (.+)$/.exec(line) ?? []
      return path === undefined
        ? []
        : [{ path: shownPath(Buffer.from(path, 'latin1')), bytes: Number(bytes) }]
    })
}
