import { expect } from 'vitest'
import { seeded } from '../../chaos/random.ts'
import { randomChanges } from './random-changes.ts'
import { startHistories } from './two-snapshots.ts'

const ROUNDS = 20

/**
 * Plays random histories of changes until there were `changes` of them, each followed by a snapshot from the
 * changed paths and one by git, which must be equal. Returns the share of those that git did not take.
 */
export async function playHistories(seed: number, changes: number): Promise<number> {
  const random = seeded(seed)
  await using histories = await startHistories()
  let without_git = 0
  for (let played = 0; played < changes; ) {
    await using history = await histories.start(random.between(0, 1) < 0.8)
    const log: string[] = []
    for (let round = 0; round < ROUNDS && played < changes; round++, played++) {
      const command = randomChanges(random)
      log.push(command)
      const where = `TEST_SEED=${seed}, change ${played}:\n${log.join('\n---\n')}`
      const taken = await history.after(command).catch(error => {
        throw new Error(where, { cause: error })
      })
      if (taken === null) continue
      const { incremental, complete, by_git } = taken
      const sorted = ({ left_out, ...rest }: typeof complete) => ({
        ...rest,
        left_out: left_out.map(({ path, reason }) => `${reason} ${path}`).sort(),
      })
      expect(sorted(incremental), where).toEqual(sorted(complete))
      if (!by_git) without_git++
    }
    expect(await history.finish(), `TEST_SEED=${seed}, before change ${played}`).toBe(null)
  }
  return without_git / changes
}
