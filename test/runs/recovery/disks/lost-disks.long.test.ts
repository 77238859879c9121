import { test } from 'vitest'
import { seeded } from '../../../chaos/random.ts'
import { type Kill, playOnLostDisks } from './lost-disks.ts'

const KILLS = 6 * Number(process.env.TEST_MORE ?? 1)
const STEPS = 12 * KILLS
/** The same moments in each run. `TEST_SEED=7` gives others. */
const seed = Number(process.env.TEST_SEED ?? 1)

/** Moments from the first step of a run to its last one: each between two entries of its trace. */
function kills(): Kill[] {
  const random = seeded(seed)
  return Array.from({ length: KILLS }, (_, i) => ({
    entries: 3 + Math.floor(((i + random.between(0, 0.8)) * STEPS) / KILLS),
    delay_ms: random.between(0, 150),
  }))
}

test.each(['built_in', 'program'] as const)(
  `kill -9 at any moment of many steps of the agent %s, on machines that share no disk: no change of an ok action is lost (seed ${seed})`,
  agent => playOnLostDisks(agent, STEPS, kills()),
  600_000,
)
