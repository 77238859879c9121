import { existsSync } from 'node:fs'
import type { GitHost } from '../process/git-host.ts'
import { git } from '../process/run-git.ts'

type FirstCommit = { files: Record<string, string>; message: string; author: string }

/**
 * Creates a bare repository with one commit on `main` at `path`, unless the path exists. Rejects with
 * GitError.
 */
export async function createRepository(host: GitHost, path: string, commit: FirstCommit): Promise<void> {
  if (existsSync(path)) return
  await git(host, 'the sample repository cannot be created', {
    args: ['init', '--quiet', '--bare', '--template=', '--initial-branch=main', path],
  })
  // Git refuses forced pushes to a repository that a group may read (core.sharedRepository), unless it is set
  // otherwise.
  await git(host, 'the sample repository cannot be configured', {
    git_dir: path,
    args: ['config', 'receive.denyNonFastForwards', 'false'],
  })
  await git(host, 'the sample repository cannot be filled', {
    git_dir: path,
    args: ['fast-import', '--quiet'],
    stdin: fastImport(commit),
  })
}

/** Returns the stream that `git fast-import` reads; the time is the moment of the import. */
function fastImport({ files, message, author }: FirstCommit): string {
  const data = (text: string) => `data ${Buffer.byteLength(text)}\n${text}\n`
  const entries = Object.entries(files).map(([path, text]) => `M 100644 inline ${path}\n${data(text)}`)
  return `commit refs/heads/main\ncommitter ${author} ${Math.floor(Date.now() / 1000)} +0000\n${data(message)}${entries.join('')}\ndone\n`
}
