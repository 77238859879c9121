import { z } from 'zod'
import { limits } from '../limits.ts'
import { text } from '../text.ts'

const retries = z.int().min(0).max(limits.check_retries)
const names = z.array(text(1, limits.check_name_chars)).max(limits.check_names)
const few = <T extends z.ZodType>(record: T) =>
  record
    .refine(
      value => Object.keys(value as object).length <= limits.check_names,
      `must have at most ${limits.check_names} keys`,
    )
    .meta({ wire_rules: { maxProperties: limits.check_names } })

/** A key that is null or absent leaves what is set: clients of the public API send either. */
export const CheckSuiteSettingsInput = z
  .object({
    check_retry_count: retries.nullish().describe('Maximum number of attempts to fix a failed check'),
    ignored_checks: names.nullish().describe('Checks that are ignored'),
    check_retry_counts: few(z.record(text(1, limits.check_name_chars), retries))
      .nullish()
      .describe('Maximum number of attempts for single checks, by name'),
    custom_prompts: few(z.record(text(1, limits.check_name_chars), text(0, limits.check_prompt_chars)))
      .nullish()
      .describe('Additional instructions for the agent on a failed check, by name'),
    high_priority_apps: names.nullish().describe('Apps whose failed checks the agent fixes immediately'),
  })
  .meta({
    id: 'CheckSuiteSettingsRequest',
    examples: [{ check_retry_count: 2, ignored_checks: ['coverage'] }],
  })
export type CheckSuiteSettingsInput = z.output<typeof CheckSuiteSettingsInput>

export const CheckSuiteSettings = z
  .object({
    check_retry_count: z.int().describe('Maximum number of attempts to fix a failed check'),
    ignored_checks: z.array(z.string()).describe('Checks that are ignored'),
    check_retry_counts: z
      .record(z.string(), z.int())
      .describe('Maximum number of attempts for single checks, by name'),
    custom_prompts: z
      .record(z.string(), z.string())
      .describe('Additional instructions for the agent on a failed check, by name'),
    high_priority_apps: z.array(z.string()).describe('Apps whose failed checks the agent fixes immediately'),
    available_check_suite_names: z.array(z.string()).describe('Checks that were seen on its pull requests'),
  })
  .meta({
    id: 'CheckSuiteSettingsResponse',
    examples: [
      {
        check_retry_count: 2,
        ignored_checks: ['coverage'],
        check_retry_counts: { lint: 1 },
        custom_prompts: {},
        high_priority_apps: [],
        available_check_suite_names: [],
      },
    ],
  })
