import { z } from 'zod'
import { decimal } from '../decimal.ts'
import { exampleRun } from './example-run.ts'
import { MessageType } from './logs.ts'

/** The most parts that a caller may request: about the pixels of a screen. */
const MAX_PARTS = 1_000

export const TimelineQuery = z.object({
  parts: decimal(1, MAX_PARTS)
    .optional()
    .describe(
      'Largest number of equally long `parts`, default 500; more where turns and sections begin in between',
    ),
})
export type TimelineQuery = z.output<typeof TimelineQuery>

const span = {
  from_seq: z.int().describe('First entry'),
  through_seq: z.int().describe('Last entry'),
  started_at: z.iso
    .datetime()
    .describe(
      'Time of the entry before it; of the first entry of a turn, its own time. UTC, ISO 8601 with milliseconds',
    ),
  ended_at: z.iso.datetime().describe('Time of its last entry'),
  failed: z
    .int()
    .describe('Entries that report a failure: errors, failed tool calls, failed checks and refused reviews'),
  cost_usd: z
    .string()
    .nullable()
    .describe(
      'Cost of the model calls before its entries, in US dollars; null when the price of a model of the run is unknown',
    ),
}

const TimelinePart = z
  .object({
    ...span,
    turn: z.int().describe('Turn of the entries'),
    kinds: z
      .array(
        z.object({
          message_type: MessageType,
          tool_name: z.string().nullable().describe('Tool of the entries'),
          entries: z.int().describe('Number of entries of this kind'),
        }),
      )
      .describe('Kinds of the entries, the most frequent one first'),
  })
  .meta({ id: 'RunTimelinePart' })
export type TimelinePart = z.infer<typeof TimelinePart>

const TimelineSection = z
  .object({
    ...span,
    title: z
      .string()
      .nullable()
      .describe('The item of the plan that was in progress, or was the next one; null: there was none'),
  })
  .meta({ id: 'RunTimelineSection' })

const TimelineTurn = z
  .object({
    ...span,
    turn: z.int().describe('Number of the turn, from 1'),
    sections: z
      .array(TimelineSection)
      .describe('Entries that follow each other in one item of the plan, in order'),
  })
  .meta({ id: 'RunTimelineTurn' })
export type TimelineTurn = z.infer<typeof TimelineTurn>

const [started_at, ended_at] = ['2026-11-20T10:30:00.000Z', '2026-11-20T10:30:09.000Z']
const whole = { from_seq: 1, through_seq: 9, started_at, ended_at, failed: 1, cost_usd: '0.0123' }

/** The course of a run in bounded size, whatever the number of its entries (specification.md#logs). */
export const RunTimeline = z
  .object({
    agent_run_id: z.int().describe('The run'),
    total_logs: z.int().describe('Number of entries of the run'),
    turns: z.array(TimelineTurn).describe('Turns and the sections of each'),
    parts: z
      .array(TimelinePart)
      .describe(
        'All entries in order, in parts that never span two turns or sections; for a short run one entry each',
      ),
  })
  .meta({
    id: 'RunTimeline',
    examples: [
      {
        agent_run_id: exampleRun.id,
        total_logs: 9,
        turns: [{ ...whole, turn: 1, sections: [{ ...whole, title: 'Find the cause' }] }],
        parts: [{ ...whole, turn: 1, kinds: [{ message_type: 'ACTION', tool_name: 'shell', entries: 9 }] }],
      },
    ],
  })
export type RunTimeline = z.infer<typeof RunTimeline>
