import type { Role } from '../../core/access/permissions.ts'
import type { Window } from '../../core/paging.ts'
import { allRows, type Db, firstRow, only, onlyRow } from '../database.ts'
import { listPage } from '../list-page.ts'
import { updateRow } from '../statement.ts'
import { github_account } from './accounts.ts'

export type MemberRow = {
  user_id: number
  organization_id: number
  kind: 'person' | 'service'
  email: string | null
  full_name: string | null
  github_user_id: string
  github_username: string
  role: Role
  last_sign_in_at: Date | null
  /** Start of the membership. */
  created_at: Date
}

const columns = `m.user_id, m.organization_id, u.kind, coalesce(m.email, u.email) as email, u.full_name, ${github_account}, m.role,
  u.last_sign_in_at, m.created_at`
const tables = 'memberships m join users u on u.id = m.user_id'
const from = `from ${tables}`

/** Returns one page, oldest users first. `kind`: only these. */
export async function listMemberships(
  db: Db,
  organization_id: number,
  kind: 'person' | 'service' | null,
  window: Window,
): Promise<{ rows: MemberRow[]; total: number }> {
  const where = 'm.organization_id = $1 and ($2::text is null or u.kind = $2)'
  return listPage(
    db,
    { name: 'list_memberships', columns, from: tables, where, key: 'm.user_id', order: 'asc' },
    [organization_id, kind],
    window,
  )
}

/** Returns a membership, locked against changes until the transaction ends. */
export function holdMembership(
  tx: Db,
  organization_id: number,
  user_id: number,
): Promise<MemberRow | undefined> {
  return firstRow<MemberRow>(tx, {
    name: 'hold_membership',
    text: `select ${columns} ${from}
      where m.organization_id = $1 and m.user_id = $2
      for share of m`,
    values: [organization_id, user_id],
  })
}

/** Serializes changes of the memberships of an organization until the transaction ends. */
export async function lockMemberships(tx: Db, organization_id: number): Promise<void> {
  await tx.query({
    name: 'lock_memberships',
    text: 'select 1 from organizations where id = $1 for no key update',
    values: [organization_id],
  })
}

/** Returns how many people, other than this user, are ADMIN. */
export async function countOtherAdmins(db: Db, organization_id: number, user_id: number): Promise<number> {
  const { rows } = await db.query<{ total: number }>({
    name: 'count_other_admins',
    text: `select count(*) as total ${from}
      where m.organization_id = $1 and m.user_id <> $2 and m.role = 'ADMIN' and u.kind = 'person'`,
    values: [organization_id, user_id],
  })
  return only(rows).total
}

/** Sets the role of a member; does nothing for a user without a membership. */
export async function setRole(db: Db, organization_id: number, user_id: number, role: Role): Promise<void> {
  await db.query({
    name: 'set_role',
    text: 'update memberships set role = $3 where organization_id = $1 and user_id = $2',
    values: [organization_id, user_id, role],
  })
}

/**
 * Sets the GitHub account that an organization shows for a member. Undefined fields stay; null: the account
 * that the user named.
 */
export async function setGithubAccount(
  db: Db,
  organization_id: number,
  user_id: number,
  change: { github_user_id?: string | null | undefined; github_username?: string | null | undefined },
): Promise<void> {
  await db.query(
    updateRow('memberships', {
      where: { organization_id, user_id },
      change: { github_user_id: change.github_user_id, github_username: change.github_username },
    }),
  )
}

/** Deletes a membership, but neither the user nor its credentials. */
export async function deleteMembership(db: Db, organization_id: number, user_id: number): Promise<void> {
  await db.query({
    name: 'delete_membership',
    text: 'delete from memberships where organization_id = $1 and user_id = $2',
    values: [organization_id, user_id],
  })
}

/** Returns whether a user is also a member of another organization. */
export async function belongsElsewhere(db: Db, organization_id: number, user_id: number): Promise<boolean> {
  const { rows } = await db.query({
    name: 'belongs_elsewhere',
    text: 'select 1 from memberships where user_id = $2 and organization_id <> $1 limit 1',
    values: [organization_id, user_id],
  })
  return rows.length > 0
}

/** Returns whether a member of the organization has this address. */
export async function hasMemberOf(db: Db, organization_id: number, email: string): Promise<boolean> {
  const { rows } = await db.query({
    name: 'has_member_of',
    text: `select 1 ${from}
      where m.organization_id = $1 and coalesce(m.email, u.email) = $2
      limit 1`,
    values: [organization_id, email],
  })
  return rows.length > 0
}

/**
 * Prevents new memberships and sign-in links of a user until the transaction ends. Call after
 * `lockMemberships`, before locking links.
 */
export async function lockUser(tx: Db, user_id: number): Promise<void> {
  await tx.query({
    name: 'lock_user',
    text: 'select 1 from users where id = $1 for no key update',
    values: [user_id],
  })
}

/** Inserts a user that is a program of the organization, and returns its id. It is not a member yet. */
export function insertServiceUser(db: Db, organization_id: number, name: string): Promise<{ id: number }> {
  return onlyRow<{ id: number }>(db, {
    name: 'insert_service_user',
    text: `insert into users (kind, service_organization_id, full_name)
      values ('service', $1, $2)
      returning id`,
    values: [organization_id, name],
  })
}

/**
 * Prevents other changes of this member, and links for the member, until the transaction ends. Call before
 * locking the membership.
 */
export async function lockMember(tx: Db, organization_id: number, user_id: number): Promise<void> {
  await tx.query({
    name: 'lock_member',
    text: `select 1 ${from}
      where m.organization_id = $1 and m.user_id = $2
      for no key update of u`,
    values: [organization_id, user_id],
  })
}

export type FoundUser = {
  id: number
  email: string | null
  full_name: string | null
  kind: 'person' | 'service'
  /** The user's organizations, oldest first. */
  organization_ids: number[]
}

/**
 * Returns users by id or by address, oldest first: several organizations may have different users with the
 * same address. `organization_id`: only members of that organization.
 */
export function findUsers(
  db: Db,
  { id, email, organization_id }: { id: number | null; email: string | null; organization_id: number | null },
): Promise<FoundUser[]> {
  return allRows<FoundUser>(db, {
    name: 'find_users',
    text: `select u.id,
        coalesce(
          u.email,
          (select m.email from memberships m where m.user_id = u.id order by m.organization_id limit 1)
        ) as email, u.full_name, u.kind,
        array(
          select m.organization_id
          from memberships m
          where m.user_id = u.id
          order by m.organization_id
        ) as organization_ids
      from users u
      where (
          u.id = $1
          or u.email = $2
          or exists (select 1 from memberships m where m.user_id = u.id and m.email = $2)
        )
        and (
          $3::bigint is null
          or exists (select 1 from memberships m where m.user_id = u.id and m.organization_id = $3)
        )
      order by u.id`,
    values: [id, email, organization_id],
  })
}
