import type { GitHost } from '../process/git-host.ts'
import { git } from '../process/run-git.ts'
import { asSha } from '../refs/ref-name.ts'
import { type Objects, objectsOf } from './objects.ts'

type CommitInput = {
  tree: string
  parents: string[]
  message: string
  author: { name: string; email: string }
  /** Default: now. With it, the same input creates the same commit on every machine. */
  at?: Date
}

/**
 * Writes a commit, into the mirror or for a run, that no ref names yet. No work tree, no hook, no signature.
 * GitError.
 */
export async function commitTree(
  host: GitHost,
  objects: Objects,
  { tree, parents, message, author, at }: CommitInput,
): Promise<string> {
  const date = at && `${Math.floor(at.getTime() / 1000)} +0000`
  const { git_dir, env } = objectsOf(host, objects)
  const written = await git(host, 'the commit cannot be written', {
    git_dir,
    args: [
      'commit-tree',
      '--no-gpg-sign',
      asSha(tree),
      ...parents.flatMap(sha => ['-p', asSha(sha)]),
      '-F',
      '-',
    ],
    stdin: message,
    env: {
      ...env,
      GIT_AUTHOR_NAME: author.name,
      GIT_AUTHOR_EMAIL: author.email,
      GIT_COMMITTER_NAME: author.name,
      GIT_COMMITTER_EMAIL: author.email,
      ...(date && { GIT_AUTHOR_DATE: date, GIT_COMMITTER_DATE: date }),
    },
  })
  return asSha(written.toString().trim())
}

/** Returns the tree of a commit. GitError. */
export async function treeOf(host: GitHost, objects: Objects, sha: string): Promise<string> {
  const args = ['rev-parse', '--verify', `${asSha(sha)}^{tree}`]
  const found = await git(host, 'the commit cannot be read', { ...objectsOf(host, objects), args })
  return found.toString().trim()
}
