import { expect, test } from 'vitest'
import { bundleCommand } from '../../../src/git/workspace/bundle-command.ts'
import type { Snapshot } from '../../../src/git/workspace/checkpoint-commands.ts'
import { commitCommand, parseCommit } from '../../../src/git/workspace/commit-command.ts'
import { cloneCommand } from '../../../src/git/workspace/workspace-commands.ts'
import { ANY_FILES, startCheckpointTest } from './checkpoint-fixture.ts'

/**
 * The budget of a change: a commit that raises a number states why it is worth it. Threads of git are
 * included; a machine with one processor has fewer. The first process of a separate command keeps its pipes.
 * A commit includes its bundle.
 */
const PROCESSES = {
  clone_over_a_clone: 7,
  prepare: 6,
  // With the program that lists the changes, and the git that reports what is ignored.
  snapshot: 5,
  next_snapshot: 0,
  // Git's own, over all files, after it has learned what the service has written.
  complete_snapshot: 7,
  complete_snapshot_of_small_files: 4,
  first_pack: 6,
  snapshot_with_pack: 0,
  commit: 14,
  bundle: 5,
  // One brings the index to the tree of the snapshot before.
  snapshot_of_new_commit: 10,
}
/** After two seconds, on a busy machine, a command of a snapshot is joined by one that unblocks it. */
const PROCESSES_TO_UNBLOCK = 3

test('the processes of a clone, of snapshots with their pack, of a commit and of its bundle', async () => {
  await using set = await startCheckpointTest({ 'README.md': 'Hello', 'a/.gitattributes': '*.js text' })
  const { agent, shots, inside, base_sha, first } = set
  if (inside === null || base_sha === null) throw new Error('there is no repository')
  const counts: Record<string, number> = {}
  const count = async (
    name: keyof typeof PROCESSES,
    where: 'agent' | 'shots',
    work: () => Promise<unknown>,
  ) => {
    const before = set.commands.length
    const started = await set.processesOf(where, work)
    counts[name] =
      started -
      PROCESSES_TO_UNBLOCK * set.commands.slice(before).filter(command => command.startsWith('find ')).length
  }
  await count('clone_over_a_clone', 'agent', async () =>
    expect(await agent.separate(cloneCommand(inside))).toMatchObject({ exit_code: 0 }),
  )
  const tree = first.tree
  await count('prepare', 'shots', async () =>
    expect(await shots.prepare({ from: 'clone', sha: base_sha, tree }, 20_000)).toMatchObject({ tree }),
  )
  const take = async (before: Snapshot, how: typeof ANY_FILES) => {
    const { snapshot, differs } = await shots.take(before, how, () => {}, 20_000)
    expect(differs).toBe(null)
    return snapshot ?? before
  }
  let changed = first
  await agent.shell('echo more >>README.md; echo new >new.txt')
  await count('snapshot', 'shots', async () => {
    changed = await take(first, ANY_FILES)
  })
  expect(changed.tree).not.toBe(tree)
  await agent.shell('echo more >>new.txt; mkdir -p a/b; echo new >a/b/new.txt')
  await count('next_snapshot', 'shots', async () => {
    changed = await take(changed, ANY_FILES)
  })
  await count('first_pack', 'shots', async () => {
    await set.keep(changed)
  })
  await agent.shell('echo more >>a/b/new.txt')
  await count('snapshot_with_pack', 'shots', async () => {
    changed = await take(changed, ANY_FILES)
    await set.keep(changed)
  })
  await agent.shell('echo more >>new.txt')
  await count('complete_snapshot', 'shots', async () => {
    changed = await take(changed, { ...ANY_FILES, complete: true })
  })
  await agent.shell('echo more >>new.txt')
  await count('complete_snapshot_of_small_files', 'shots', async () => {
    changed = await take(changed, { stale: false, largest_bytes: 1_000, complete: true })
  })
  let head_sha = ''
  await count('commit', 'agent', async () => {
    const { exit_code, text } = await agent.separate(
      commitCommand({ ...inside, message: 'Change', at: new Date(), exported_sha: null }),
    )
    head_sha = parseCommit(exit_code, text)?.head_sha ?? ''
  })
  await count('bundle', 'agent', async () => {
    expect(await agent.separate(bundleCommand({ ...inside, head_sha }))).toMatchObject({ exit_code: 0 })
  })
  await count('snapshot_of_new_commit', 'shots', async () => {
    expect(await take(changed, ANY_FILES)).toMatchObject({ tree: changed.tree, head: head_sha })
  })
  for (const [name, budget] of Object.entries(PROCESSES))
    expect(counts[name], name).toBeLessThanOrEqual(budget)
})
