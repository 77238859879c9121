import type { Body, Result } from '../../../sdk/operations.ts'
import type { CommandArguments, Options } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { firstLine, plainText } from '../../plain-text.ts'
import { list, pageOptions, resource, single, table } from '../../resource.ts'

type Role = Body<'inviteMember'>['role']
type Member = Result<'listMembers'>['items'][number]
type Invitation = Result<'listInvitations'>['items'][number]
const roles = ['ADMIN', 'MANAGER', 'MEMBER', 'READER'] as const satisfies Role[]

const options = {
  role: {
    type: 'string',
    value: 'ROLE',
    choices: roles,
    actions: ['add'],
    about: 'role of the member, MEMBER by default',
  },
  name: {
    type: 'string',
    value: 'NAME',
    actions: ['add'],
    about: 'display name of an account that is created when the invitation is accepted',
  },
  ...pageOptions(['list', 'invitations']),
} as const satisfies Options

type Person = { email: string | null; full_name: string | null; role: string }
const person = {
  ROLE: ({ role }: Person) => role,
  ADDRESS: ({ email }: Person) => firstLine(email ?? '', 80),
  NAME: ({ full_name }: Person) => firstLine(full_name ?? '', 40),
}
/** Returns what happened to whom; an account without an address is named by the word of the command line. */
const done =
  (what: string) =>
  ({ email, role }: Pick<Person, 'email' | 'role'>, which = '') => [
    `${what}: ${firstLine(email ?? which, 80)}, ${role}`,
  ]

export const members = resource({
  name: 'members',
  summary: 'list members, invite one, change a role, or remove one',
  usage: [
    '[list]',
    'add EMAIL',
    'role ID ROLE',
    'remove ID',
    'link ID',
    'invitations',
    'revoke ID',
    'accept LINK',
  ],
  words: [0, 3],
  options,
  notes: ['add prints only the invitation link, once: send it yourself, the service sends no e-mail'],
  actions: {
    list: list({
      operation: 'listMembers',
      lines: table<Member>({ ID: one => String(one.user_id), ...person, SINCE: one => one.created_at }),
    }),
    add: single({
      takes: 'an e-mail address',
      operation: 'inviteMember',
      body: ({ values }: CommandArguments<typeof options>, email = '') => ({
        email,
        role: (values.role ?? 'MEMBER') as Role,
        full_name: values.name,
      }),
      about: ({ id, email, role, expires_at }) =>
        `invitation ${id} for ${firstLine(email, 80)} as ${role}, until ${expires_at}; the link is shown only now:`,
      lines: ({ invitation_link }) => [plainText(invitation_link)],
    }),
    role: single({
      takes: 'the id of a user and a role',
      operation: 'updateMember',
      body: (_given, _user, role) => ({ role: roleNamed(role) }),
      lines: done('changed'),
    }),
    remove: single({ operation: 'removeMember', lines: done('removed') }),
    link: single({
      operation: 'createSignInLink',
      about: ({ sign_in_link_expires_at }, user) =>
        `signs user ${user} in once, until ${sign_in_link_expires_at}:`,
      lines: ({ sign_in_link }) => [plainText(sign_in_link)],
    }),
    invitations: list({
      operation: 'listInvitations',
      lines: table<Invitation>({ ID: one => String(one.id), ...person, EXPIRES: one => one.expires_at }),
    }),
    revoke: single({ operation: 'revokeInvitation', lines: done('revoked') }),
    accept: single({
      takes: 'an invitation link, or its code',
      operation: 'acceptInvitation',
      body: (_given, link = '') => ({ code: /#code=([^&\s]+)/.exec(link)?.[1] ?? link }),
      lines: done('accepted'),
    }),
  },
})

function roleNamed(name: string | undefined): Role {
  const role = roles.find(known => known === name)
  if (role === undefined)
    throw new UsageError(`agentrun members role takes the id of a user and one of ${roles.join(', ')}`)
  return role
}
