import { type GitHost, mirrorPath } from './git-host.ts'
import { git } from './run-git.ts'

const MOST_BYTES = 64 * 1024 ** 2

/** Path and object name of each file of a commit that `wanted` says yes to. GitError where the mirror has no such commit or too many files. */
export async function listFilesAt(
  host: GitHost,
  repository_id: number,
  sha: string,
  wanted: (path: string) => boolean,
): Promise<[path: string, object: string][]> {
  const args = ['ls-tree', '-r', '-z', '--format=%(objectname) %(path)', sha]
  const listed = await git(host, 'files cannot be listed', {
    git_dir: mirrorPath(host, repository_id),
    args,
    max_output_bytes: MOST_BYTES,
  })
  const lines = listed.toString('utf8').split('\0').filter(Boolean)
  return lines.flatMap(line => {
    const at = line.indexOf(' ')
    const path = line.slice(at + 1)
    return wanted(path) ? [[path, line.slice(0, at)] as [string, string]] : []
  })
}
