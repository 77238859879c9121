import { z } from 'zod'
import { limits } from './limits.ts'
import { pageOf } from './page.ts'
import { text } from './text.ts'
import { Role } from './users.ts'

const fields = {
  user_id: z.int().describe('The user'),
  organization_id: z.int().describe('The organization'),
  kind: z.enum(['person', 'service']).describe('`service`: never signs in; its tokens are made by an ADMIN'),
  email: z.string().nullable().describe('Address, if one is known'),
  full_name: z.string().nullable().describe('Name to show'),
  role: Role.describe('What the user may do in this organization'),
  has_signed_in: z.boolean().describe('Whether the user has ever signed in'),
  created_at: z.iso.datetime().describe('Since when the user belongs to the organization'),
}
const example = {
  ...{ user_id: 2, organization_id: 1, kind: 'person', email: 'ada@example.org', full_name: 'Ada Lovelace', role: 'MEMBER' },
  ...{ has_signed_in: false, created_at: '2026-11-20T10:30:00.000Z' },
}
const link = { sign_in_link: 'https://agents.example.org/sign-in#code=…', sign_in_link_expires_at: '2026-11-21T10:30:00.000Z' }

export const Member = z.object(fields).meta({ id: 'Member', examples: [example] })
export type Member = z.output<typeof Member>
export const MemberPage = pageOf(Member).meta({ id: 'PageOfMember' })

export const AddedMember = z
  .object({
    ...fields,
    sign_in_link: z.string().nullable().describe('Signs the person in once, shown only now; null where no link is needed or may be given'),
    sign_in_link_expires_at: z.iso.datetime().nullable().describe('Until when'),
  })
  .meta({ id: 'AddedMember', examples: [{ ...example, ...link }] })

export const SignInLink = z
  .object({
    sign_in_link: z.string().describe('Signs the person in once, shown only now'),
    sign_in_link_expires_at: z.iso.datetime().describe('Until when'),
  })
  .meta({ id: 'SignInLink', examples: [link] })

/** An address in the one spelling in which it is kept: lower case. Its pattern leaves no room for control characters. */
const email = z
  .string({ error: 'must be an e-mail address' })
  .trim()
  .toLowerCase()
  .max(limits.email_chars, `must have at most ${limits.email_chars} characters`)
  .pipe(z.email('must be an e-mail address'))
  .meta({ wire: { type: 'string', format: 'email', maxLength: limits.email_chars } })

export const AddMemberInput = z
  .object({
    email: email.describe('Who is known by it already is that person; case does not matter'),
    full_name: text(1, limits.name_chars, { trim: true }).nullish().describe('Name to show, for who is new'),
    role: Role.describe('What the user may do in this organization'),
  })
  .meta({ id: 'AddMemberInput', examples: [{ email: 'ada@example.org', full_name: 'Ada Lovelace', role: 'MEMBER' }] })
export type AddMemberInput = z.output<typeof AddMemberInput>

export const UpdateMemberInput = z
  .object({ role: Role.describe('What the user may do from now on') })
  .meta({ id: 'UpdateMemberInput', examples: [{ role: 'MANAGER' }] })
export type UpdateMemberInput = z.output<typeof UpdateMemberInput>

export const ServiceUser = z
  .object({
    id: z.int().describe('The user'),
    organization_id: z.int().describe('The one organization that it belongs to'),
    name: z.string().describe('Name to show'),
    role: Role.describe('What its tokens may do at most'),
    created_at: z.iso.datetime().describe('When it was made'),
  })
  .meta({
    id: 'ServiceUser',
    examples: [{ id: 3, organization_id: 1, name: 'release bot', role: 'MEMBER', created_at: '2026-11-20T10:30:00.000Z' }],
  })
export type ServiceUser = z.output<typeof ServiceUser>
export const ServiceUserPage = pageOf(ServiceUser).meta({ id: 'PageOfServiceUser' })

export const CreateServiceUserInput = z
  .object({
    name: text(1, limits.name_chars, { trim: true }).describe('Name to show'),
    role: Role.describe('What its tokens may do at most'),
  })
  .meta({ id: 'CreateServiceUserInput', examples: [{ name: 'release bot', role: 'MEMBER' }] })
export type CreateServiceUserInput = z.output<typeof CreateServiceUserInput>
