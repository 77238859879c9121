import type { Role } from '../../core/access/permissions.ts'
import type { Window } from '../../core/paging.ts'
import { type Db, firstRow, onlyRow } from '../database.ts'
import { listPage } from '../list-page.ts'
import { insertRow, replacing } from '../statement.ts'

export type InvitationRow = {
  id: number
  organization_id: number
  email: string
  full_name: string | null
  role: Role
  created_by: number | null
  created_at: Date
  expires_at: Date
}
const columns = 'id, organization_id, email, full_name, role, created_by, created_at, expires_at'

/**
 * Creates an invitation, valid for `days`. Replaces the open one of the same address in the organization: its
 * link is void.
 */
export function saveInvitation(
  db: Db,
  organization_id: number,
  invitation: {
    email: string
    full_name: string | null
    role: Role
    created_by: number
    digest: Buffer
    days: number
  },
): Promise<InvitationRow> {
  return onlyRow<InvitationRow>(
    db,
    insertRow(
      'invitations',
      {
        organization_id,
        email: invitation.email,
        full_name: invitation.full_name,
        role: invitation.role,
        created_by: invitation.created_by,
        digest: invitation.digest,
        expires_at: bind => `now() + make_interval(days => ${bind(invitation.days)})`,
      },
      {
        end: `on conflict (organization_id, email)
          do update set ${replacing('full_name', 'role', 'created_by', 'digest', 'created_at', 'expires_at')}
          returning ${columns}`,
      },
    ),
  )
}

/** Returns open and expired invitations, oldest first. */
export async function listInvitations(
  db: Db,
  organization_id: number,
  window: Window,
): Promise<{ rows: InvitationRow[]; total: number }> {
  const list = {
    columns,
    from: 'invitations',
    where: 'organization_id = $1',
    key: 'id',
    order: 'asc',
  } as const
  return listPage(db, { name: 'list_invitations', ...list }, [organization_id], window)
}

/** Deletes an invitation and returns it; undefined when it is not in the organization. */
export function deleteInvitation(
  db: Db,
  organization_id: number,
  id: number,
): Promise<InvitationRow | undefined> {
  return firstRow<InvitationRow>(db, {
    name: 'delete_invitation',
    text: `delete from invitations
      where organization_id = $1 and id = $2
      returning ${columns}`,
    values: [organization_id, id],
  })
}

/** Deletes the open invitations that a user created in an organization. Returns their ids, ascending. */
export async function deleteInvitationsBy(
  db: Db,
  organization_id: number,
  user_id: number,
): Promise<number[]> {
  const { rows } = await db.query<{ id: number }>({
    name: 'delete_invitations_by',
    text: `delete from invitations
      where organization_id = $1 and created_by = $2
      returning id`,
    values: [organization_id, user_id],
  })
  return rows.map(row => row.id).sort((a, b) => a - b)
}

/**
 * Returns the invitation of a code, with the name of its organization. Undefined for a wrong, used, revoked
 * or expired code.
 */
export function findInvitation(
  db: Db,
  digest: Buffer,
): Promise<(InvitationRow & { organization_name: string }) | undefined> {
  return firstRow<InvitationRow & { organization_name: string }>(db, {
    name: 'find_invitation',
    text: `select i.id, i.organization_id, i.email, i.full_name, i.role, i.created_by, i.created_at, i.expires_at,
        o.name as organization_name
      from invitations i
      join organizations o on o.id = i.organization_id
      where i.digest = $1 and i.expires_at > now()`,
    values: [digest],
  })
}

/** Removes invitations that expired more than 30 days ago. */
export async function deleteOldInvitations(db: Db): Promise<void> {
  await db.query({
    name: 'delete_old_invitations',
    text: `delete from invitations where expires_at < now() - interval '30 days'`,
    values: [],
  })
}
