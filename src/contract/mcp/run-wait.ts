import { z } from 'zod'
import { decimal } from '../decimal.ts'
import { limits } from '../limits.ts'
import { exampleRun } from '../runs/example-run.ts'
import { AgentRun } from '../runs/runs.ts'

/** Shorter than the 60 s after which common MCP clients give up on a call. */
export const DEFAULT_WAIT_SECONDS = 50

export const RunWaitQuery = z.object({
  timeout_seconds: decimal(1, limits.wait_seconds).optional().meta({
    description: 'Seconds after which the wait ends with the reason `timeout`',
    default: DEFAULT_WAIT_SECONDS,
  }),
})

/** The result of a wait for a run (specification.md#mcp). */
export const RunWait = z
  .object({
    reason: z
      .enum(['ended', 'paused', 'waiting', 'timeout'])
      .describe(
        '`ended`: the run is completed, failed or cancelled; `paused`: only a resume continues it; `waiting`: it waits for a person, see `waiting_on`; `timeout`: it is still active, so wait again',
      ),
    run: AgentRun.describe('The run at that moment'),
  })
  .meta({ id: 'AgentRunWait', examples: [{ reason: 'ended', run: exampleRun }] })
export type RunWait = z.infer<typeof RunWait>
