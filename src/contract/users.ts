import { z } from 'zod'
import { limits } from './limits.ts'
import { pageOf } from './page.ts'
import { text } from './text.ts'

export const Role = z.enum(['ADMIN', 'MANAGER', 'MEMBER', 'READER'])

const example = {
  ...{ id: 1, email: 'ada@example.org', github_user_id: '', github_username: 'ada', avatar_url: null },
  ...{ full_name: 'Ada Lovelace', role: 'ADMIN', is_admin: true },
}

export const User = z
  .object({
    id: z.int().describe('The user'),
    email: z.string().nullable().describe('Address, if one is known'),
    github_user_id: z.string().describe("GitHub's id as text; empty for a user of this service alone"),
    github_username: z.string().describe('Login name'),
    avatar_url: z.string().nullable().describe('Address of a picture'),
    full_name: z.string().nullable().describe('Name to show'),
    role: Role.nullable().describe('What the user may do in the organization'),
    is_admin: z.boolean().meta({ description: 'Whether `role` is ADMIN', deprecated: true }),
  })
  .meta({ id: 'UserResponse', examples: [example] })

const custom_prompt = 'What the agents of your runs are told besides'

export const Me = User.extend({ custom_prompt: z.string().nullable().describe(custom_prompt) }).meta({
  id: 'MeResponse',
  examples: [{ ...example, custom_prompt: 'Answer in French.' }],
})

const isWebUrl = (value: string) => ['http:', 'https:'].includes(URL.parse(value)?.protocol ?? '')

export const UpdateMeInput = z
  .object({
    full_name: text(1, limits.name_chars, { trim: true }).nullish().describe('Name to show'),
    avatar_url: text(1, limits.webhook_url_chars)
      .refine(isWebUrl, 'must be an http or https URL')
      .nullish()
      .describe('Address of a picture'),
    custom_prompt: text(0, limits.rules_chars, { trim: true }).nullish().describe(`${custom_prompt}; null or empty: nothing`),
  })
  .meta({ id: 'UpdateMeInput', examples: [{ custom_prompt: 'Answer in French.' }] })
export type UpdateMeInput = z.output<typeof UpdateMeInput>

export const CliRules = z
  .object({
    organization_rules: z.string().nullable().describe('What the organization says to every agent'),
    user_custom_prompt: z.string().nullable().describe(custom_prompt),
  })
  .meta({ id: 'CLIRulesResponse', examples: [{ organization_rules: 'Every change has a test.', user_custom_prompt: null }] })

export const UserPage = pageOf(User).meta({ id: 'PageOfUser' })
