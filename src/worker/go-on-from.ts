import { commitTree, treeOf } from '../git/commit-tree.ts'
import { standAtCommand } from '../git/workspace-commands.ts'
import type { Sandbox } from '../sandbox/port.ts'
import type { Base } from './base.ts'
import { runInWorkspace } from './checkout.ts'
import type { CommitWords } from './commit-turn.ts'
import type { WorkerDeps } from './settings.ts'

/**
 * The commit by which the branch gets the files of `head` when it stands at `pushed_sha`, which an owner of before pushed and could not write
 * down: that commit itself when it has these very files, otherwise a new one after it. Made in the mirror, from trees that are in there;
 * the workspace stands at it then, so that later turns build on it. GitError.
 */
export async function goOnFrom(
  deps: WorkerDeps,
  base: Base,
  sandbox: Sandbox,
  words: CommitWords,
  commits: { head: string; pushed_sha: string },
  signal: AbortSignal,
): Promise<string> {
  const { id } = base.repository
  const [tree, pushed_tree] = await Promise.all([treeOf(deps.git, id, commits.head), treeOf(deps.git, id, commits.pushed_sha)])
  const next = tree === pushed_tree ? commits.pushed_sha : await commitTree(deps.git, id, { ...words, tree, parents: [commits.pushed_sha] })
  // A repository that does not take it is told of when the commit is asked for.
  await runInWorkspace(deps, sandbox, standAtCommand(next), signal)
  return next
}
