import { z } from 'zod'

const ms = (what: string) => z.int().nullable().describe(`Milliseconds ${what}; null: not part of this start`)
const shape = {
  queue_ms: ms('from the create to the claim by a worker'),
  claim_ms: ms('from the claim to the first work on the run'),
  mirror_ms: ms('until the commit was settled and the mirror had it'),
  clone_ms: ms('to populate the workspace'),
  setup_ms: ms('for setup commands, or to find and verify the environment instead'),
  sandbox_ms: ms('until the sandbox and its layers had started'),
  first_model_byte_ms: ms('from the create to the first piece of a model response'),
  first_action_ms: ms('from the create to the first action of the agent'),
}

/** The parts of a start that are measured one by one. */
const parts = ['queue', 'claim', 'mirror', 'sandbox', 'clone', 'setup'] as const

const StartupSpan = z
  .object({
    part: z.enum(parts).describe('The part'),
    start_ms: z.int().describe('Milliseconds from the create to its start'),
    duration_ms: z.int().describe('Milliseconds it took, with what was part of it'),
  })
  .meta({ id: 'RunStartupSpan' })
export type StartupSpan = z.infer<typeof StartupSpan>

/** The start of a run, part by part: some run in parallel, such as the first model call and the sandbox. */
export const RunStartup = z
  .object({
    agent_run_id: z.int().describe('The run'),
    ...shape,
    spans: z
      .array(StartupSpan)
      .describe(
        'Start and length of each part that had ended by then, in the order of their starts. Parts overlap, and one may run several times',
      ),
    environment: z
      .object({
        id: z
          .int()
          .nullable()
          .describe('The environment; null: one of this run alone, because a command had failed'),
        made: z.boolean().describe('Whether this run prepared it'),
        age_seconds: z.int().describe('Its age'),
      })
      .nullable()
      .describe('The environment that the run reused'),
  })
  .meta({
    id: 'RunStartup',
    examples: [
      {
        agent_run_id: 12,
        queue_ms: 3,
        claim_ms: 8,
        mirror_ms: 11,
        clone_ms: 42,
        setup_ms: 61,
        sandbox_ms: 55,
        first_model_byte_ms: 640,
        first_action_ms: 1900,
        environment: { id: 3, made: false, age_seconds: 3600 },
        spans: [
          { part: 'queue', start_ms: 0, duration_ms: 3 },
          { part: 'claim', start_ms: 3, duration_ms: 8 },
          { part: 'mirror', start_ms: 11, duration_ms: 11 },
        ],
      },
    ],
  })

export type RunStartup = z.output<typeof RunStartup>

const durations = z.object(shape)
const median = {
  queue_ms: 3,
  claim_ms: 8,
  mirror_ms: 11,
  clone_ms: 42,
  setup_ms: 61,
  sandbox_ms: 55,
  first_model_byte_ms: 640,
}
export const StartupStatistics = z
  .object({
    runs: z.int().describe('Number of runs that are counted: at most the newest 10,000'),
    since: z.iso.datetime().describe('The start of the requested period'),
    p50: durations.describe('The median of each part, over the runs that had it'),
    p95: durations.describe('The 95th percentile of each part, over the same runs'),
  })
  .meta({
    id: 'StartupFigures',
    examples: [
      {
        runs: 210,
        since: '2026-11-13T10:30:00.000Z',
        p50: { ...median, first_action_ms: 1900 },
        p95: { ...median, first_model_byte_ms: 2100, first_action_ms: 5200 },
      },
    ],
  })

export const StartupQuery = z.object({
  since: z.iso.datetime().optional().describe('Runs that began since then, default 7 days ago'),
})
