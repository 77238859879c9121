import { z } from 'zod'
import { id } from '../decimal.ts'
import { money } from '../money.ts'
import { several } from '../several.ts'
import { text } from '../text.ts'

const day = z.iso.date({ error: 'must be a day, for example 2026-11-20' })

const groupings = ['day', 'repo', 'user', 'model'] as const

export const UsageQuery = z.object({
  from: day.optional().describe("First day (UTC), default the month's first"),
  to: day.optional().describe('Last day (UTC), itself included, default today'),
  group_by: z
    .enum(groupings, { error: `must be one of ${groupings.join(', ')}` })
    .default('day')
    .describe('Grouping of the items'),
  repo_id: several(id()).describe('Only runs on one of these repositories'),
  user_id: several(id()).describe('Only runs that one of these users requested'),
  model: several(text(1, 250)).describe('Only calls of one of these models, `provider/model`'),
  format: z
    .enum(['json', 'csv'], { error: 'must be json or csv' })
    .default('json')
    .describe('`csv`: the items as `text/csv` (RFC 4180), with the names of their fields in the first line'),
})
export type UsageQuery = z.output<typeof UsageQuery>

const numbers = {
  runs: z.int().describe('Runs created'),
  completed: z.int().describe('Turns that were completed'),
  completed_with_reason: z
    .int()
    .describe(
      'Of these, turns that did not do everything that was requested: their run had a `status_reason`',
    ),
  failed: z.int().describe('Turns that failed'),
  cancelled: z.int().describe('Turns that were stopped'),
  input_tokens: z.int().describe('Tokens that models read'),
  output_tokens: z.int().describe('Tokens that models wrote'),
  cached_tokens: z.int().describe('Tokens read from a cache, included in the tokens read'),
  cost_usd: money.nullable().describe('US dollars; null when the price of some calls is unknown'),
  known_cost_usd: money.describe('US dollars of the calls whose price is known'),
  active_seconds: z.number().describe('Seconds of worker time'),
  estimated_calls: z
    .int()
    .describe('Calls of models with tokens and cost that are estimated, because no provider reported them'),
  success_rate: z
    .number()
    .nullable()
    .describe(
      '`completed` without `completed_with_reason`, as a part of `completed` and `failed`, from 0 to 1 with three decimals; null when there were neither',
    ),
  pull_requests: z
    .int()
    .describe('Runs of the period that proposed a pull request; deleted runs do not count'),
  median_seconds_to_pull_request: z
    .number()
    .nullable()
    .describe(
      'Median of the seconds from the creation of these runs to their pull request; null without one',
    ),
}
const proposed = { success_rate: 0.8, pull_requests: 8, median_seconds_to_pull_request: 312.5 }
const turns = { completed: 9, completed_with_reason: 1, failed: 1, cancelled: 0 }
const tokens = { input_tokens: 120_000, output_tokens: 9_000, cached_tokens: 80_000 }
const example = {
  runs: 10,
  ...turns,
  ...tokens,
  cost_usd: '1.25',
  known_cost_usd: '1.25',
  active_seconds: 840.5,
  estimated_calls: 0,
  ...proposed,
}

const UsageItem = z
  .object({
    day: z.string().nullable().describe('The day, when grouped by day'),
    repo_id: z.int().nullable().describe('The repository, when grouped by repo; null: runs without one'),
    user_id: z.int().nullable().describe('The creator of the runs, when grouped by user'),
    model: z.string().nullable().describe('The model, when grouped by model'),
    name: z
      .string()
      .nullable()
      .describe('Name of the repository or user; null for other groups, and after its removal'),
    ...numbers,
  })
  .meta({ id: 'UsageItem' })
export type UsageItem = z.infer<typeof UsageItem>

export const Usage = z
  .object({
    from: z.string().describe('First day'),
    to: z.string().describe('Last day'),
    group_by: z.enum(groupings).describe('Grouping of the items'),
    items: z.array(UsageItem).describe('Days oldest first, everything else by name or id'),
    total: z.object(numbers).describe('Of all items'),
    month: z
      .object({
        first_day: z.string().describe('First day of this month (UTC)'),
        runs: z.int().describe('Runs created in it'),
        runs_per_month: z
          .int()
          .nullable()
          .describe('Maximum number of runs that can be created; null: no limit'),
        known_cost_usd: money.describe('US dollars of the calls whose price is known'),
        budget_usd_per_month: money.nullable().describe('US dollars that may be spent; null: no limit'),
      })
      .describe('The values that the limits of the organization apply to'),
  })
  .meta({
    id: 'UsageResponse',
    examples: [
      {
        from: '2026-11-01',
        to: '2026-11-20',
        group_by: 'day',
        items: [{ day: '2026-11-20', repo_id: null, user_id: null, model: null, name: null, ...example }],
        total: example,
        month: {
          first_day: '2026-11-01',
          runs: 10,
          runs_per_month: null,
          known_cost_usd: '1.25',
          budget_usd_per_month: '250',
        },
      },
    ],
  })
export type Usage = z.infer<typeof Usage>
