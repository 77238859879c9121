import { isManifest } from '../../core/repositories/dependency-manifests.ts'
import { type GitHost, mirrorPath } from '../process/git-host.ts'
import { git } from '../process/run-git.ts'

const MAX_BYTES = 64 * 1024 ** 2

/**
 * Returns path and object name of each file of a commit that affects what these commands prepare, and of each
 * submodule. GitError when the mirror has no such commit or too many files.
 */
export async function listManifests(
  host: GitHost,
  repository_id: number,
  sha: string,
  commands: readonly string[],
): Promise<[path: string, object: string][]> {
  const args = ['ls-tree', '-r', '-z', '--format=%(objecttype) %(objectname) %(path)', sha]
  const listed = await git(host, 'files cannot be listed', {
    git_dir: mirrorPath(host, repository_id),
    args,
    max_output_bytes: MAX_BYTES,
  })
  const lines = listed.toString('utf8').split('\0').filter(Boolean)
  return lines.flatMap((line): [string, string][] => {
    const [type, object = ''] = line.split(' ', 2)
    const path = line.slice(`${type} ${object} `.length)
    return type === 'commit' || isManifest(path, commands) ? [[path, object]] : []
  })
}
