import { z } from 'zod'

/** A limit that bounds an organization, with its current use. */
export const OrganizationLimit = z
  .object({
    name: z.string().describe('Names it, for programs'),
    summary: z.string().describe('Its subject and its effect when it is reached, for people'),
    value: z
      .union([z.number(), z.string()])
      .nullable()
      .describe('The limit, or null; US dollars as a decimal string'),
    used: z
      .union([z.number(), z.string()])
      .nullable()
      .describe('Current use; null: it is not counted for the organization as a whole'),
    unit: z
      .enum(['runs', 'usd', 'requests', 'steps', 'tokens', 'seconds', 'bytes', 'characters', 'entries'])
      .describe('Unit of `value` and `used`'),
    per: z
      .enum(['organization', 'repository', 'user', 'token', 'run', 'turn', 'sandbox', 'request'])
      .describe('The scope in which it is counted'),
    window_seconds: z.int().nullable().describe('Seconds of the sliding window of a rate'),
    resets_at: z.iso
      .datetime()
      .nullable()
      .describe('Time at which `used` is reset to 0; UTC, ISO 8601 with milliseconds'),
    set_by: z
      .enum(['organization', 'operator', 'service'])
      .describe(
        '`organization`: a field of its settings; `operator`: a variable of the service; `service`: fixed',
      ),
    setting: z.string().nullable().describe('Name of that field or variable'),
  })
  .meta({ id: 'OrganizationLimit' })
export type OrganizationLimit = z.infer<typeof OrganizationLimit>

export const OrganizationLimits = z
  .object({ items: z.array(OrganizationLimit).describe('Those of the organization first') })
  .meta({
    id: 'OrganizationLimitsResponse',
    examples: [
      {
        items: [
          {
            name: 'concurrent_runs',
            summary: 'Runs that are executed at the same time; further ones wait.',
            value: 4,
            used: 1,
            unit: 'runs',
            per: 'organization',
            window_seconds: null,
            resets_at: null,
            set_by: 'organization',
            setting: 'max_concurrent_runs',
          },
        ],
      },
    ],
  })
export type OrganizationLimits = z.infer<typeof OrganizationLimits>

export const HealthCheck = z
  .object({
    check: z.string().describe('Subject of the check'),
    state: z
      .enum(['ok', 'warning', 'broken'])
      .describe('`broken`: something does not work; `warning`: it works and may not be intended'),
    detail: z.string().describe('The finding'),
    fix: z.string().nullable().describe('The recommended action; null when it is ok'),
  })
  .meta({ id: 'HealthCheck' })
export type HealthCheck = z.infer<typeof HealthCheck>

export const OrganizationHealth = z
  .object({
    broken: z.int().describe('Number of checks that are `broken`'),
    checks: z.array(HealthCheck).describe('All checks, those of the service first'),
  })
  .meta({
    id: 'OrganizationHealthResponse',
    examples: [
      {
        broken: 0,
        checks: [
          {
            check: 'models',
            state: 'ok',
            detail: 'anthropic, by default anthropic/claude-sonnet-5-5',
            fix: null,
          },
        ],
      },
    ],
  })
export type OrganizationHealth = z.infer<typeof OrganizationHealth>
