import { type Db, only } from './database.ts'

export type TokenOwner = { token_id: number; user_id: number; kind: 'personal' | 'browser'; wire_profile: 'standard' | 'codegen' }

/** Who a token stands for; undefined for an unknown, expired or revoked one. */
export async function findToken(db: Db, digest: Buffer): Promise<TokenOwner | undefined> {
  const { rows } = await db.query<TokenOwner>({
    name: 'find_token',
    text: `select id as token_id, user_id, kind, wire_profile from tokens
      where digest = $1 and revoked_at is null and (expires_at is null or expires_at > now())`,
    values: [digest],
  })
  return rows[0]
}

export async function insertToken(
  db: Db,
  token: {
    user_id: number
    kind: 'personal' | 'browser'
    name: string
    digest: Buffer
    wire_profile: 'standard' | 'codegen'
    expires_in_seconds: number | null
  },
): Promise<{ id: number; expires_at: Date | null }> {
  const { rows } = await db.query<{ id: number; expires_at: Date | null }>({
    name: 'insert_token',
    text: `insert into tokens (user_id, kind, name, digest, wire_profile, expires_at)
      values ($1, $2, $3, $4, $5, now() + make_interval(secs => $6)) returning id, expires_at`,
    values: [token.user_id, token.kind, token.name, token.digest, token.wire_profile, token.expires_in_seconds],
  })
  return only(rows)
}

/** Whether a token was ever made from this secret, revoked and expired ones included. */
export async function isKnownToken(db: Db, digest: Buffer): Promise<boolean> {
  const { rows } = await db.query({ name: 'is_known_token', text: 'select 1 from tokens where digest = $1', values: [digest] })
  return rows.length > 0
}

/** Browser tokens live 15 minutes; their rows need not outlive them. */
export async function deleteExpiredTokens(db: Db): Promise<void> {
  await db.query({
    name: 'delete_expired_tokens',
    text: `delete from tokens where kind = 'browser' and expires_at < now() - interval '1 hour'`,
    values: [],
  })
}

export type Role = 'ADMIN' | 'MANAGER' | 'MEMBER' | 'READER'

export async function findRole(db: Db, organization_id: number, user_id: number): Promise<Role | undefined> {
  const { rows } = await db.query<{ role: Role }>({
    name: 'find_role',
    text: 'select role from memberships where organization_id = $1 and user_id = $2',
    values: [organization_id, user_id],
  })
  return rows[0]?.role
}

export type UserRow = {
  id: number
  email: string | null
  full_name: string | null
  github_user_id: string
  github_username: string
  avatar_url: string | null
  role: Role | null
}

/** A user with the role in the first organization that has them. */
export async function getUser(db: Db, user_id: number): Promise<UserRow | undefined> {
  const { rows } = await db.query<UserRow>({
    name: 'get_user',
    text: `select u.id, u.email, u.full_name, u.github_user_id, u.github_username, u.avatar_url,
        (select m.role from memberships m where m.user_id = u.id order by m.organization_id limit 1) as role
      from users u where u.id = $1`,
    values: [user_id],
  })
  return rows[0]
}

const member_columns = 'u.id, u.email, u.full_name, u.github_user_id, u.github_username, u.avatar_url, m.role'

/** A user of an organization, with the role there. */
export async function getMember(db: Db, organization_id: number, user_id: number): Promise<UserRow | undefined> {
  const { rows } = await db.query<UserRow>({
    name: 'get_member',
    text: `select ${member_columns} from memberships m join users u on u.id = m.user_id where m.organization_id = $1 and m.user_id = $2`,
    values: [organization_id, user_id],
  })
  return rows[0]
}

/** Users of an organization, oldest first. */
export async function listMembers(
  db: Db,
  organization_id: number,
  skip: number,
  limit: number,
): Promise<{ rows: UserRow[]; total: number }> {
  const page = await db.query<UserRow>({
    name: 'list_members',
    text: `select ${member_columns} from memberships m join users u on u.id = m.user_id where m.organization_id = $1 order by u.id limit $2 offset $3`,
    values: [organization_id, limit, skip],
  })
  const count = await db.query<{ total: number }>({
    name: 'count_members',
    text: 'select count(*) as total from memberships where organization_id = $1',
    values: [organization_id],
  })
  return { rows: page.rows, total: only(count.rows).total }
}

export async function insertUser(db: Db, user: { full_name: string }): Promise<{ id: number }> {
  const { rows } = await db.query<{ id: number }>({
    name: 'insert_user',
    text: 'insert into users (full_name) values ($1) returning id',
    values: [user.full_name],
  })
  return only(rows)
}

export async function insertMembership(db: Db, organization_id: number, user_id: number, role: Role): Promise<void> {
  await db.query({
    name: 'insert_membership',
    text: 'insert into memberships (organization_id, user_id, role) values ($1, $2, $3)',
    values: [organization_id, user_id, role],
  })
}
