import { commitTree, treeOf } from '../../git/objects/commit-tree.ts'
import type { RunObjects } from '../../git/objects/objects.ts'
import { createMerge } from '../../git/publish/merge.ts'
import { type CopiedCommit, moveToCommand, switchCommitCommand } from '../../git/workspace/workspace-commands.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import type { Base } from '../base/base.ts'
import { runInWorkspace } from '../base/checkout.ts'
import type { WorkerDeps } from '../settings.ts'
import { KEPT_INSIDE } from '../workspace/restore.ts'
import type { CommitWords } from './commit-turn.ts'

const SHOWN_FILES = 20

type Workplace = { objects: RunObjects; sandbox: Sandbox }

const copied = (sha: string, { head, pushed_sha }: { head: string; pushed_sha: string }): CopiedCommit => ({
  sha,
  known: [head, pushed_sha],
  kept_inside: KEPT_INSIDE,
})

/**
 * The commit by which the branch gets the files of `head` when it stands at `pushed_sha`, which an owner of before pushed and could not write
 * down: that commit itself when it has these very files, otherwise a new one after it. Made among the objects of the run;
 * the workspace gets it and stands at it then, so that later turns build on it. GitError.
 */
export async function rebaseOntoPushed(
  deps: WorkerDeps,
  { objects, sandbox }: Workplace,
  words: CommitWords,
  commits: { head: string; pushed_sha: string },
  signal: AbortSignal,
): Promise<string> {
  const trees = [commits.head, commits.pushed_sha].map(sha => treeOf(deps.git, objects, sha))
  const [tree = '', pushed_tree] = await Promise.all(trees)
  const next =
    tree === pushed_tree ? commits.pushed_sha : await commitTree(deps.git, objects, { ...words, tree, parents: [commits.pushed_sha] })
  // A repository that does not take it is told of when the commit is asked for.
  await runInWorkspace(deps, sandbox, switchCommitCommand(copied(next, commits)), signal)
  return next
}

/**
 * The commit by which the branch gets what the agent did beside what somebody else has pushed to it, `pushed_sha`; the workspace has both then.
 * A text: why that cannot be, for a person. Made among the objects of the run. GitError.
 */
export async function mergePushed(
  deps: WorkerDeps,
  base: Base,
  { objects, sandbox }: Workplace,
  words: CommitWords,
  { head, pushed_sha }: { head: string; pushed_sha: string },
  signal: AbortSignal,
): Promise<{ head: string } | string> {
  const message = `Merge what was pushed to ${base.branch}\n\n${words.message.split('\n').at(-1) ?? ''}`.trim()
  const commits = { base_sha: pushed_sha, head_sha: head, method: 'merge', message, author: words.author } as const
  const merged = await createMerge(deps.git, objects, commits)
  if (merged.kind === 'refused') return merged.message
  if (merged.kind === 'conflict') {
    const names = merged.files.slice(0, SHOWN_FILES).map(path => JSON.stringify(path))
    return `somebody else has pushed to it too, and both have changed ${names.join(', ')}; have the agent fetch and merge it`
  }
  const next = merged.kind === 'nothing' ? pushed_sha : merged.sha
  const moved = await runInWorkspace(deps, sandbox, moveToCommand(head, copied(next, { head, pushed_sha })), signal)
  if (moved.status === 'error')
    return `what somebody else has pushed to it cannot be brought into the workspace: ${moved.output.slice(-300)}`
  return { head: next }
}
