import { z } from 'zod'
import { limits } from '../limits.ts'
import { pageOf } from '../page.ts'
import { text, web_address } from '../text.ts'

export const Role = z.enum(['ADMIN', 'MANAGER', 'MEMBER', 'READER'])

const example = {
  id: 1,
  email: 'ada@example.org',
  github_user_id: '583231',
  github_username: 'ada',
  avatar_url: null,
  full_name: 'Ada Lovelace',
  role: 'ADMIN',
  is_admin: true,
}

/**
 * For display only: the account is not verified, and grants nothing
 * (decisions.md#github-accounts-are-display-text).
 */
export const githubAccountFields = {
  github_user_id: z.string().describe('Number of the GitHub account, as text; empty where unknown'),
  github_username: z.string().describe('Login name on GitHub; empty where unknown'),
}
export const githubAccountInput = {
  github_user_id: z
    .string({ error: 'must be a string of digits' })
    .regex(/^[1-9][0-9]{0,18}$/, 'must be the number of a GitHub account, as text')
    .nullish()
    .describe('Number of the GitHub account, as text; null: unknown'),
  github_username: z
    .string({ error: 'must be a string' })
    .regex(/^[A-Za-z0-9][A-Za-z0-9_-]{0,38}$/, 'must be a login name on GitHub, without @')
    .nullish()
    .describe('Login name on GitHub; shown to others; not verified; null: unknown'),
}

export const User = z
  .object({
    id: z.int().describe('The user'),
    email: z.string().nullable().describe('Address, if one is known'),
    ...githubAccountFields,
    avatar_url: z.string().nullable().describe('Address of a picture'),
    full_name: z.string().nullable().describe('Display name'),
    role: Role.nullable().describe('Role of the user in the organization'),
    is_admin: z.boolean().meta({ description: 'Whether `role` is ADMIN', deprecated: true }),
  })
  .meta({ id: 'UserResponse', examples: [example] })

const custom_prompt = 'Your additional instructions for the agents of your runs'
const where = 'It applies in the organizations that you had joined when you last set it.'

const hidden = 'null: nothing, or the token does not reach all of your organizations.'

export const Me = User.extend({
  custom_prompt: z.string().nullable().describe(`${custom_prompt}; ${hidden} ${where}`),
}).meta({
  id: 'MeResponse',
  examples: [{ ...example, custom_prompt: 'Answer in French.' }],
})

const isWebUrl = (value: string) => ['http:', 'https:'].includes(URL.parse(value)?.protocol ?? '')

export const UpdateMeInput = z
  .object({
    full_name: text(1, limits.name_chars, { trim: true }).nullish().describe('Display name'),
    avatar_url: text(1, limits.webhook_url_chars)
      .refine(isWebUrl, 'must be an http or https URL')
      .meta({ wire_rules: web_address })
      .nullish()
      .describe('Address of a picture'),
    ...githubAccountInput,
    custom_prompt: text(0, limits.rules_chars, { trim: true })
      .nullish()
      .describe(`${custom_prompt}; null or empty: nothing. ${where} Set it again after joining another one.`),
  })
  .meta({ id: 'UpdateMeInput', examples: [{ custom_prompt: 'Answer in French.' }] })
export type UpdateMeInput = z.output<typeof UpdateMeInput>

export const CliRules = z
  .object({
    organization_rules: z
      .string()
      .nullable()
      .describe('The instructions of the organization for every agent'),
    user_custom_prompt: z
      .string()
      .nullable()
      .describe(`${custom_prompt}; null if you have not set it since you joined the organization`),
  })
  .meta({
    id: 'CLIRulesResponse',
    examples: [{ organization_rules: 'Every change has a test.', user_custom_prompt: null }],
  })

export const UserPage = pageOf(User).meta({ id: 'PageOfUser' })
