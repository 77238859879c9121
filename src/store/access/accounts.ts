import type { Role } from '../../core/access/permissions.ts'
import type { Window } from '../../core/paging.ts'
import { type Db, firstRow, onlyRow } from '../database.ts'
import { listPage } from '../list-page.ts'
import { updateRow } from '../statement.ts'
import { reaches_membership } from './logins.ts'

/**
 * SQL: the GitHub account of the user `u` as the organization of the membership `m` shows it; empty where
 * unknown.
 */
export const github_account = `coalesce(m.github_user_id, u.github_user_id) as github_user_id,
  coalesce(m.github_username, u.github_username) as github_username`

export type UserRow = {
  id: number
  email: string | null
  full_name: string | null
  github_user_id: string
  github_username: string
  avatar_url: string | null
  role: Role | null
}

/** Returns the user of a token, with address and role in the first organization that the token reaches. */
export function getTokenUser(
  db: Db,
  token_id: number,
): Promise<(UserRow & { custom_prompt: string | null }) | undefined> {
  return firstRow<UserRow & { custom_prompt: string | null }>(db, {
    name: 'get_token_user',
    text: `select u.id, coalesce(m.email, u.email) as email, u.full_name, ${github_account}, u.avatar_url,
        u.custom_prompt, m.role
      from tokens t
      join users u on u.id = t.user_id
      left join memberships m on m.user_id = u.id and ${reaches_membership}
      where t.id = $1
      order by m.organization_id
      limit 1`,
    values: [token_id],
  })
}

/** Returns an account, independent of its memberships. */
export function getAccount(
  db: Db,
  user_id: number,
): Promise<{ id: number; full_name: string | null } | undefined> {
  return firstRow<{ id: number; full_name: string | null }>(db, {
    name: 'get_account',
    text: 'select id, full_name from users where id = $1',
    values: [user_id],
  })
}

const member_columns = `u.id, coalesce(m.email, u.email) as email, u.full_name, ${github_account}, u.avatar_url, m.role`

/** Returns a user of an organization, with the role there. */
export function getMember(db: Db, organization_id: number, user_id: number): Promise<UserRow | undefined> {
  return firstRow<UserRow>(db, {
    name: 'get_member',
    text: `select ${member_columns}
      from memberships m
      join users u on u.id = m.user_id
      where m.organization_id = $1 and m.user_id = $2`,
    values: [organization_id, user_id],
  })
}

/** Returns the users of an organization, oldest first. */
export async function listMembers(
  db: Db,
  organization_id: number,
  window: Window,
): Promise<{ rows: UserRow[]; total: number }> {
  const from = 'memberships m join users u on u.id = m.user_id'
  const list = {
    name: 'list_members',
    columns: member_columns,
    from,
    where: 'm.organization_id = $1',
    key: 'm.user_id',
    order: 'asc',
  } as const
  return listPage(db, list, [organization_id], window)
}

type UserChange = {
  github_user_id?: string | null
  github_username?: string | null
  full_name?: string | null
  avatar_url?: string | null
  custom_prompt?: string | null
}
type Undefinable<T> = { [K in keyof T]: T[K] | undefined }

/** An account that was removed, unlike one that is unknown. */
const emptyForNull = (value: string | null | undefined) => (value === null ? '' : value)

/** Changes a user. An absent field stays unchanged, null clears it. */
export async function updateUser(db: Db, user_id: number, change: Undefinable<UserChange>): Promise<void> {
  await db.query(
    updateRow('users', {
      where: { id: user_id },
      set: {
        custom_prompt_set_at: bind =>
          `case when ${bind(change.custom_prompt !== undefined)} then clock_timestamp() else custom_prompt_set_at end`,
      },
      change: {
        full_name: change.full_name,
        avatar_url: change.avatar_url,
        custom_prompt: change.custom_prompt,
        github_user_id: emptyForNull(change.github_user_id),
        github_username: emptyForNull(change.github_username),
      },
    }),
  )
}

/**
 * Returns the custom prompt of a user of the organization for agents; null: no prompt, or the user is no
 * longer a member. A prompt from before the user joined is ignored: a person who controlled the account
 * before must not instruct agents here (decisions.md#custom-prompts-hold-where-they-were-set).
 */
export async function getCustomPrompt(
  db: Db,
  organization_id: number,
  user_id: number,
): Promise<string | null> {
  const { rows } = await db.query<{ custom_prompt: string | null }>({
    name: 'get_custom_prompt',
    text: `select u.custom_prompt
      from memberships m
      join users u on u.id = m.user_id
      where m.organization_id = $1
        and m.user_id = $2
        and (m.accepted_at is null or u.custom_prompt_set_at >= m.accepted_at)`,
    values: [organization_id, user_id],
  })
  return rows[0]?.custom_prompt ?? null
}

/** Inserts a user without a membership and returns its id. */
export function insertUser(db: Db, user: { full_name: string | null }): Promise<{ id: number }> {
  return onlyRow<{ id: number }>(db, {
    name: 'insert_user',
    text: 'insert into users (full_name) values ($1) returning id',
    values: [user.full_name],
  })
}

/** The start of a membership. `at`: as of `Login`. */
type Acceptance = { id: string; at: string }

/**
 * Inserts a membership. Returns undefined for a user who is already a member; the role stays. `email`: the
 * member's address in the organization.
 */
export function insertMembership(
  db: Db,
  organization_id: number,
  user_id: number,
  role: Role,
  email: string | null = null,
): Promise<Acceptance | undefined> {
  return firstRow<Acceptance>(db, {
    name: 'insert_membership',
    text: `insert into memberships (organization_id, user_id, role, email)
      values ($1, $2, $3, $4)
      on conflict (organization_id, user_id) do nothing
      returning acceptance_id as id, accepted_at::text as at`,
    values: [organization_id, user_id, role, email],
  })
}
