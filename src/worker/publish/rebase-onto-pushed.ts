import { commitTree, treeOf } from '../../git/objects/commit-tree.ts'
import type { RunObjects } from '../../git/objects/objects.ts'
import { createMerge } from '../../git/publish/merge.ts'
import {
  type CopiedCommit,
  moveToCommand,
  switchCommitCommand,
} from '../../git/workspace/workspace-commands.ts'
import { runInWorkspace, shownReason } from '../base/checkout.ts'
import { KEPT_INSIDE } from '../workspace/restore.ts'
import type { CommittedPublication } from './publication.ts'

const SHOWN_FILES = 20

/** The commit that the branch has on the remote, which is among the objects of the run. */
type PushedBranch = { objects: RunObjects; pushed_sha: string }

const copied = (sha: string, head: string, pushed_sha: string): CopiedCommit => ({
  sha,
  known: [head, pushed_sha],
  kept_inside: KEPT_INSIDE,
})

/**
 * Returns a commit with the files of the head on top of `pushed_sha`, which an earlier worker pushed and
 * could not record: that commit itself when it has the same files. The workspace is set to it, so that later
 * turns build on it. Throws GitError.
 */
export async function rebaseOntoPushed(
  committed: CommittedPublication,
  { objects, pushed_sha }: PushedBranch,
): Promise<string> {
  const { deps, sandbox, commit, head, control } = committed
  const trees = [head, pushed_sha].map(sha => treeOf(deps.git, objects, sha))
  const [tree = '', pushed_tree] = await Promise.all(trees)
  const next =
    tree === pushed_tree
      ? pushed_sha
      : await commitTree(deps.git, objects, { ...commit, tree, parents: [pushed_sha] })
  // A repository that rejects it is reported when the commit is exported.
  await runInWorkspace(deps, sandbox, switchCommitCommand(copied(next, head, pushed_sha)), control.signal)
  return next
}

/**
 * Merges the head with `pushed_sha`, which somebody else pushed to the branch; the workspace has both then.
 * Returns a text for the user where they cannot be merged. Throws GitError.
 */
export async function mergePushed(
  committed: CommittedPublication,
  { objects, pushed_sha }: PushedBranch,
): Promise<{ head: string } | string> {
  const { deps, writer, base, sandbox, commit, head, control } = committed
  const message =
    `Merge what was pushed to ${base.branch}\n\n${commit.message.split('\n').at(-1) ?? ''}`.trim()
  const commits = {
    base_sha: pushed_sha,
    head_sha: head,
    method: 'merge',
    message,
    author: commit.author,
  } as const
  const merged = await createMerge(deps.git, objects, commits)
  if (merged.kind === 'refused') return merged.message
  if (merged.kind === 'conflict') {
    const names = merged.files.slice(0, SHOWN_FILES).map(path => JSON.stringify(path))
    return `somebody else has pushed to it too, and both have changed ${names.join(', ')}; have the agent fetch and merge it`
  }
  const next = merged.kind === 'nothing' ? pushed_sha : merged.sha
  const moved = await runInWorkspace(
    deps,
    sandbox,
    moveToCommand(head, copied(next, head, pushed_sha)),
    control.signal,
  )
  if (moved.status === 'error')
    return `the commits that somebody else pushed cannot be merged in the workspace: ${await shownReason(writer, moved)}`
  return { head: next }
}
