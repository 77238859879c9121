import { z } from 'zod'
import { reasoning_efforts } from './reasoning-efforts.ts'

export const ReasoningEffort = z.enum(reasoning_efforts, {
  error: `must be one of ${reasoning_efforts.join(', ')}`,
})

/** The same in requests; null: the next setting above applies, and at last the default of the model. */
export const reasoningEffortInput = ReasoningEffort.nullish()
