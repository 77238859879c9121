import { z } from 'zod'

/** A limit that bounds an organization, with its current use. */
export const OrganizationLimit = z
  .object({
    name: z.string().describe('Names it, for programs'),
    summary: z.string().describe('What it bounds and what happens when it is reached, for people'),
    value: z.union([z.number(), z.string()]).nullable().describe('The limit; US dollars as a decimal string; null: none'),
    used: z
      .union([z.number(), z.string()])
      .nullable()
      .describe('What of it is used now; null: it is not counted for the organization as a whole'),
    unit: z
      .enum(['runs', 'usd', 'requests', 'steps', 'tokens', 'seconds', 'bytes', 'characters', 'entries'])
      .describe('Of `value` and `used`'),
    per: z.enum(['organization', 'repository', 'user', 'token', 'run', 'turn', 'sandbox', 'request']).describe('What it bounds, each'),
    window_seconds: z.int().nullable().describe('Of a rate: seconds of its sliding window'),
    resets_at: z.iso.datetime().nullable().describe('When `used` starts at 0 again; UTC, ISO 8601 with milliseconds'),
    set_by: z
      .enum(['organization', 'operator', 'service'])
      .describe('`organization`: a field of its settings; `operator`: a variable of the service; `service`: fixed'),
    setting: z.string().nullable().describe('Name of that field or variable'),
  })
  .meta({ id: 'OrganizationLimit' })
export type OrganizationLimit = z.infer<typeof OrganizationLimit>

export const OrganizationLimits = z.object({ items: z.array(OrganizationLimit).describe('Those of the organization first') }).meta({
  id: 'OrganizationLimitsResponse',
  examples: [
    {
      items: [
        {
          ...{ name: 'concurrent_runs', summary: 'Runs that are executed at the same time; further ones wait.', value: 4, used: 1 },
          ...{ unit: 'runs', per: 'organization', window_seconds: null, resets_at: null, set_by: 'organization' },
          setting: 'max_concurrent_runs',
        },
      ],
    },
  ],
})
export type OrganizationLimits = z.infer<typeof OrganizationLimits>

export const HealthCheck = z
  .object({
    check: z.string().describe('What was checked'),
    state: z.enum(['ok', 'warning', 'broken']).describe('`broken`: something does not work; `warning`: it works and may not be intended'),
    detail: z.string().describe('What was found'),
    fix: z.string().nullable().describe('What to do; null when it is ok'),
  })
  .meta({ id: 'HealthCheck' })
export type HealthCheck = z.infer<typeof HealthCheck>

export const OrganizationHealth = z
  .object({
    broken: z.int().describe('How many are broken'),
    checks: z.array(HealthCheck).describe('All checks, from the service to what runs work on'),
  })
  .meta({
    id: 'OrganizationHealthResponse',
    examples: [
      { broken: 0, checks: [{ check: 'models', state: 'ok', detail: 'anthropic, by default anthropic/claude-sonnet-5-5', fix: null }] },
    ],
  })
export type OrganizationHealth = z.infer<typeof OrganizationHealth>
