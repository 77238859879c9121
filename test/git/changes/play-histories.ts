import { expect } from 'vitest'
import { type Random, seeded } from '../../chaos/random.ts'
import { randomChanges } from './random-changes.ts'
import { type Storing, startHistories } from './two-snapshots.ts'

const ROUNDS = 20

function storingOf(random: Random): Storing {
  const chance = random.between(0, 1)
  return chance < 0.1 ? 'lost' : chance < 0.8
}

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
      const taken = await history.after(command, storingOf(random)).catch(error => {
        throw new Error(where, { cause: error })
      })
      if (taken === null) continue
      const { from_changes, from_git, by_git } = taken
      const sorted = ({ left_out, number: _, ...rest }: typeof from_git) => ({
        ...rest,
        left_out: left_out.map(({ path, reason }) => `${reason} ${path}`).sort(),
      })
      expect(sorted(from_changes), where).toEqual(sorted(from_git))
      if (!by_git) without_git++
    }
    expect(await history.finish(), `TEST_SEED=${seed}, before change ${played}`).toBe(null)
  }
  return without_git / changes
}
