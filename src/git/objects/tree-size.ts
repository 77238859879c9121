import { type GitHost, mirrorPath } from '../process/git-host.ts'
import { runGit } from '../process/run-git.ts'

/**
 * Returns whether a commit of the mirror has at least that many files, or files with at least that many bytes
 * in total. False when unknown.
 */
export async function isLargeTree(
  host: GitHost,
  repository_id: number,
  sha: string,
  least: { files: number; bytes: number },
): Promise<boolean> {
  const { exit_code, stdout, truncated } = await runGit(host, {
    git_dir: mirrorPath(host, repository_id),
    args: ['ls-tree', '-r', '--format=%(objectsize)', sha],
    // A line has two characters or more.
    max_output_bytes: least.files * 16,
    on_overflow: 'cut',
  })
  if (exit_code !== 0 && !truncated) return false
  const sizes = stdout.toString('latin1').split('\n').filter(Boolean)
  return (
    truncated ||
    sizes.length >= least.files ||
    sizes.reduce((sum, size) => sum + (Number(size) || 0), 0) >= least.bytes
  )
}
