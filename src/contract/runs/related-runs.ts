import { z } from 'zod'
import { pageOf } from '../page.ts'
import { exampleRun } from './example-run.ts'
import { AgentRun } from './runs.ts'

/** A run object, and how it is related to the run that was requested. */
export const RelatedRun = AgentRun.extend({
  relation: z
    .enum(['parent', 'child', 'fork', 'analysis'])
    .describe(
      '`parent`: the run that it belongs to; `child`, `fork` and `analysis`: a run that was started for it, forked from it, or analyzes its logs',
    ),
}).meta({
  id: 'RelatedAgentRun',
  examples: [{ ...exampleRun, id: exampleRun.id + 1, parent_run_id: exampleRun.id, relation: 'child' }],
})
export type RelatedRun = z.infer<typeof RelatedRun>

export const RelatedRunPage = pageOf(RelatedRun).meta({ id: 'PageOfRelatedAgentRun' })
