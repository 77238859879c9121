import { z } from 'zod'
import { limits } from '../limits.ts'
import { pageOf } from '../page.ts'
import { text } from '../text.ts'
import { githubAccountFields, githubAccountInput, Role } from './users.ts'

const fields = {
  user_id: z.int().describe('The user'),
  organization_id: z.int().describe('The organization'),
  kind: z.enum(['person', 'service']).describe('`service`: never signs in; an ADMIN creates its tokens'),
  email: z.string().nullable().describe('Address, if one is known'),
  full_name: z.string().nullable().describe('Display name'),
  ...githubAccountFields,
  role: Role.describe('Role of the user in this organization'),
  has_signed_in: z.boolean().describe('Whether the user has ever signed in'),
  created_at: z.iso.datetime().describe('Time at which the user joined the organization'),
}
const example = {
  user_id: 2,
  organization_id: 1,
  kind: 'person',
  email: 'ada@example.org',
  full_name: 'Ada Lovelace',
  role: 'MEMBER',
  github_user_id: '',
  github_username: 'ada',
  has_signed_in: false,
  created_at: '2026-11-20T10:30:00.000Z',
}
const link = {
  sign_in_link: 'https://agents.example.org/sign-in#code=…',
  sign_in_link_expires_at: '2026-11-21T10:30:00.000Z',
}

export const Member = z.object(fields).meta({ id: 'Member', examples: [example] })
export type Member = z.output<typeof Member>
export const MemberPage = pageOf(Member).meta({ id: 'PageOfMember' })

const invitation = {
  id: z.int().describe('The invitation'),
  organization_id: z.int().describe('The organization'),
  email: z.string().describe('Address by which the organization identifies the member'),
  full_name: z.string().nullable().describe('Name to show, for an account that is created by accepting'),
  role: Role.describe('Role of the member in this organization'),
  created_by: z.int().nullable().describe('The user who invited'),
  created_at: z.iso.datetime().describe('Time of its creation'),
  expires_at: z.iso.datetime().describe('Time at which it expires'),
}
const invitation_example = {
  id: 5,
  organization_id: 1,
  email: 'ada@example.org',
  full_name: 'Ada Lovelace',
  role: 'MEMBER',
  created_by: 1,
  created_at: '2026-11-20T10:30:00.000Z',
  expires_at: '2026-11-27T10:30:00.000Z',
}

export const Invitation = z.object(invitation).meta({ id: 'Invitation', examples: [invitation_example] })
export type Invitation = z.output<typeof Invitation>
export const InvitationPage = pageOf(Invitation).meta({ id: 'PageOfInvitation' })

export const CreatedInvitation = z
  .object({
    ...invitation,
    invitation_link: z.string().describe('Opens the invitation, for one acceptance; shown only now'),
  })
  .meta({
    id: 'CreatedInvitation',
    examples: [{ ...invitation_example, invitation_link: 'https://agents.example.org/invitation#code=…' }],
  })

const code = z.string().min(1).max(200).describe('The code after `#code=` in the invitation link')
export const AcceptInvitationInput = z
  .object({ code })
  .meta({ id: 'AcceptInvitationInput', examples: [{ code: 'Vh3kT0qZ8mLr' }] })

export const AcceptSessionInvitationInput = z
  .object({
    code,
    account: z
      .enum(['new', 'signed_in'])
      .describe('`new`: creates an account and signs it in; `signed_in`: the account of this browser joins'),
  })
  .meta({ id: 'AcceptSessionInvitationInput', examples: [{ code: 'Vh3kT0qZ8mLr', account: 'new' }] })

export const AcceptedSessionInvitation = z
  .object({ organization_id: z.int().describe('The organization that the account belongs to now') })
  .meta({ id: 'AcceptedSessionInvitation', examples: [{ organization_id: 1 }] })

export const OpenedInvitation = z
  .object({
    organization_id: invitation.organization_id,
    email: invitation.email,
    full_name: invitation.full_name,
    role: invitation.role,
    organization_name: z.string().describe('Name of the organization'),
    expires_at: invitation.expires_at,
    account: z
      .object({
        user_id: z.int().describe('The user'),
        full_name: z.string().nullable().describe('Display name'),
      })
      .nullable()
      .describe('The account that is signed in in this browser, or null'),
  })
  .meta({
    id: 'OpenedInvitation',
    examples: [
      {
        organization_id: 1,
        organization_name: 'Acme',
        email: 'ada@example.org',
        full_name: 'Ada Lovelace',
        role: 'MEMBER',
        expires_at: '2026-11-27T10:30:00.000Z',
        account: null,
      },
    ],
  })

export const SignInLink = z
  .object({
    sign_in_link: z.string().describe('Signs the person in once, shown only now'),
    sign_in_link_expires_at: z.iso.datetime().describe('Time at which it expires'),
  })
  .meta({ id: 'SignInLink', examples: [link] })

/** An address in its stored form: lower case. Its pattern excludes control characters. */
const email = z
  .string({ error: 'must be an e-mail address' })
  .trim()
  .toLowerCase()
  .max(limits.email_chars, `must have at most ${limits.email_chars} characters`)
  .pipe(z.email('must be an e-mail address'))
  .meta({ wire: { type: 'string', format: 'email', maxLength: limits.email_chars } })

export const AddMemberInput = z
  .object({
    email: email.describe('Address by which only this organization identifies the member; case-insensitive'),
    full_name: text(1, limits.name_chars, { trim: true })
      .nullish()
      .describe('Name to show, for an account that is created by accepting'),
    role: Role.describe('Role of the user in this organization'),
  })
  .meta({
    id: 'AddMemberInput',
    examples: [{ email: 'ada@example.org', full_name: 'Ada Lovelace', role: 'MEMBER' }],
  })
export type AddMemberInput = z.output<typeof AddMemberInput>

export const UpdateMemberInput = z
  .object({ role: Role.optional().describe('New role of the user'), ...githubAccountInput })
  .refine(
    ({ role, github_user_id, github_username }) =>
      [role, github_user_id, github_username].some(value => value !== undefined),
    {
      path: ['role'],
      message: 'give role, github_user_id or github_username',
    },
  )
  .meta({ id: 'UpdateMemberInput', examples: [{ role: 'MANAGER' }] })
export type UpdateMemberInput = z.output<typeof UpdateMemberInput>

export const ServiceUser = z
  .object({
    id: z.int().describe('The user'),
    organization_id: z.int().describe('The one organization that it belongs to'),
    name: z.string().describe('Display name'),
    role: Role.describe('Its role, which limits its tokens'),
    created_at: z.iso.datetime().describe('Time of its creation'),
  })
  .meta({
    id: 'ServiceUser',
    examples: [
      {
        id: 3,
        organization_id: 1,
        name: 'release bot',
        role: 'MEMBER',
        created_at: '2026-11-20T10:30:00.000Z',
      },
    ],
  })
export type ServiceUser = z.output<typeof ServiceUser>
export const ServiceUserPage = pageOf(ServiceUser).meta({ id: 'PageOfServiceUser' })

export const CreateServiceUserInput = z
  .object({
    name: text(1, limits.name_chars, { trim: true }).describe('Display name'),
    role: Role.describe('Its role, which limits its tokens'),
  })
  .meta({ id: 'CreateServiceUserInput', examples: [{ name: 'release bot', role: 'MEMBER' }] })
export type CreateServiceUserInput = z.output<typeof CreateServiceUserInput>
