import type { Body, Result } from '../../../sdk/operations.ts'
import { command, type Given, type Options, whole } from '../../command.ts'
import { UsageError } from '../../exit.ts'
import { firstLine, plainText } from '../../plain-text.ts'
import { columns } from '../../printer.ts'

type Role = Body<'inviteMember'>['role']
const actions = ['list', 'add', 'role', 'remove', 'link', 'invitations', 'revoke', 'accept'] as const
const roles = ['ADMIN', 'MANAGER', 'MEMBER', 'READER'] as const satisfies Role[]

const options = {
  role: { type: 'string', value: 'ROLE', choices: roles, actions: ['add'], about: 'role of the member, MEMBER by default' },
  name: {
    type: 'string',
    value: 'NAME',
    actions: ['add'],
    about: 'display name of an account that is created when the invitation is accepted',
  },
  limit: { type: 'string', value: 'N', actions: ['list', 'invitations'], about: 'how many, 100 by default and at most' },
  skip: { type: 'string', value: 'N', actions: ['list', 'invitations'], about: 'leave out this many' },
} as const satisfies Options

/** Actions that take another word, and what that word is. */
const subjects: Partial<Record<(typeof actions)[number], string>> = {
  add: 'an e-mail address',
  role: 'the id of a user and a role',
  remove: 'the id of a user',
  link: 'the id of a user',
  revoke: 'the id of an invitation',
  accept: 'an invitation link, or its code',
}

export const members = command({
  name: 'members',
  summary: 'list members, invite one, change a role, or remove one',
  usage: ['[list]', 'add EMAIL', 'role ID ROLE', 'remove ID', 'link ID', 'invitations', 'revoke ID', 'accept LINK'],
  words: [0, 3],
  choices: [...actions],
  options,
  notes: ['add prints only the invitation link, once: send it yourself, the service sends no e-mail'],
  async run(given) {
    const [action = 'list', which, role] = given.words
    if (action === 'list' || action === 'invitations') return list(given, action)
    if (which === undefined) throw new UsageError(`agentrun members ${action} takes ${subjects[action as keyof typeof subjects]}`)
    if (action === 'add') return add(given, which)
    if (action === 'link') return link(given, which)
    const { json, print } = given
    const done = await change(given, action, which, role)
    if (json) print.json(done)
    else
      print.line(
        `${action === 'role' ? 'changed' : `${action}${action.endsWith('e') ? 'd' : 'ed'}`}: ${firstLine(done.email ?? which, 80)}, ${done.role}`,
      )
    return 0
  },
})

async function change({ client, signal }: Given<typeof options>, action: string, which: string, role: string | undefined) {
  if (action === 'accept') {
    const code = /#code=([^&\s]+)/.exec(which)?.[1] ?? which
    return client().call('acceptInvitation', { body: { code }, signal })
  }
  if (action === 'revoke') {
    const invitation_id = whole('the id of an invitation', which)
    return client().call('revokeInvitation', { params: { invitation_id }, signal })
  }
  const params = { user_id: whole('the id of a user', which) }
  if (action === 'remove') return client().call('removeMember', { params, signal })
  const wanted = roles.find(name => name === role)
  if (wanted === undefined) throw new UsageError(`agentrun members role takes the id of a user and one of ${roles.join(', ')}`)
  return client().call('updateMember', { params, body: { role: wanted }, signal })
}

async function add({ values, client, json, print, signal }: Given<typeof options>, email: string): Promise<number> {
  const role = (values.role ?? 'MEMBER') as Role
  const invitation = await client().call('inviteMember', { body: { email, role, full_name: values.name }, signal })
  if (json) print.json(invitation)
  else {
    const { id, expires_at } = invitation
    print.note(`invitation ${id} for ${firstLine(invitation.email, 80)} as ${role}, until ${expires_at}; the link is shown only now:`)
    print.line(plainText(invitation.invitation_link))
  }
  return 0
}

async function link({ client, json, print, signal }: Given<typeof options>, which: string): Promise<number> {
  const created = await client().call('createSignInLink', { params: { user_id: whole('the id of a user', which) }, signal })
  if (json) print.json(created)
  else {
    print.note(`signs user ${which} in once, until ${created.sign_in_link_expires_at}:`)
    print.line(plainText(created.sign_in_link))
  }
  return 0
}

type Row = Result<'listMembers'>['items'][number] | Result<'listInvitations'>['items'][number]

async function list({ values, client, json, print, signal }: Given<typeof options>, action: 'list' | 'invitations'): Promise<number> {
  const query = { limit: whole('--limit', values.limit), skip: whole('--skip', values.skip) }
  const page =
    action === 'list' ? await client().call('listMembers', { query, signal }) : await client().call('listInvitations', { query, signal })
  if (json) {
    print.json(page)
    return 0
  }
  const header = ['ID', 'ROLE', 'ADDRESS', 'NAME', action === 'list' ? 'SINCE' : 'EXPIRES']
  const rows = (page.items as Row[]).map(row => [
    String('user_id' in row ? row.user_id : row.id),
    row.role,
    firstLine(row.email ?? '', 80),
    firstLine(row.full_name ?? '', 40),
    'user_id' in row ? row.created_at : row.expires_at,
  ])
  for (const line of columns([header, ...rows], (text, row) => (row === 0 ? print.style('dim', text) : text))) print.line(line)
  if (page.total > page.items.length) print.note(`${page.items.length} of ${page.total}; --skip shows others`)
  return 0
}
