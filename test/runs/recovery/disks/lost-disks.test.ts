import { test } from 'vitest'
import { playOnLostDisks } from './lost-disks.ts'

test('the changes of each action that the trace shows as ok survive the loss of the machine with its disk', async () => {
  await playOnLostDisks('built_in', 16, [
    { entries: 5, delay_ms: 0 },
    { entries: 11, delay_ms: 15 },
  ])
}, 120_000)
