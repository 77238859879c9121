import { expect, test } from 'vitest'
import { bundleCommand } from '../../../src/git/workspace/bundle-command.ts'
import { commitCommand, parseCommit } from '../../../src/git/workspace/commit-command.ts'
import { cloneCommand } from '../../../src/git/workspace/workspace-commands.ts'
import { startCheckpointTest } from './checkpoint-fixture.ts'

/**
 * The budget of a change: a commit that raises a number states why it is worth it. Threads of git are
 * included; a machine with one processor has fewer. The first process of a separate command keeps its pipes.
 * A commit includes its bundle.
 */
const PROCESSES = {
  clone_over_a_clone: 7,
  prepare: 6,
  snapshot: 3,
  snapshot_of_small_files: 2,
  pack: 4,
  commit: 14,
  bundle: 5,
  // One of them rewrites the index, if the last snapshot is older than a second.
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
    expect(await shots.prepare({ from: 'clone', sha: base_sha, tree }, 20_000)).toEqual(first),
  )
  let changed = first
  await agent.shell('echo more >>README.md; echo new >new.txt')
  await count('snapshot', 'shots', async () => {
    changed =
      (await shots.take(
        first,
        { stale: false, largest_bytes: Number.POSITIVE_INFINITY },
        () => {},
        20_000,
      )) ?? first
  })
  expect(changed.tree).not.toBe(tree)
  await agent.shell('echo more >>new.txt')
  await count('snapshot_of_small_files', 'shots', async () => {
    changed = (await shots.take(changed, { stale: false, largest_bytes: 1_000 }, () => {}, 20_000)) ?? changed
  })
  const pack = { tree: changed.tree, parents: [base_sha], also: [], without: [base_sha] }
  await count('pack', 'shots', () => shots.pack(pack, () => {}))
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
    expect(
      await shots.take(changed, { stale: false, largest_bytes: Number.POSITIVE_INFINITY }, () => {}, 20_000),
    ).toMatchObject({
      tree: changed.tree,
      head: head_sha,
    })
  })
  for (const [name, budget] of Object.entries(PROCESSES))
    expect(counts[name], name).toBeLessThanOrEqual(budget)
})
