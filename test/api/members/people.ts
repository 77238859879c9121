import type { Role } from '../../../src/core/access/permissions.ts'
import { digest, newToken } from '../../../src/core/access/token.ts'
import { insertMembership, insertUser } from '../../../src/store/access/accounts.ts'
import { insertToken } from '../../../src/store/access/token-access.ts'
import { type ApiResponse, type App, rows } from '../../start-app.ts'

export type Caller = {
  user_id: number
  token_id: number
  token: string
  /** A request below the organization's path, with this caller's token. */
  request(method: string, path: string, body?: unknown): Promise<ApiResponse>
}

export type Bounds = {
  kind?: 'personal' | 'browser'
  organization_id?: number | null
  scopes?: string[] | null
  repository_ids?: number[] | null
  expires_in_seconds?: number | null
}

/**
 * A user with a role in the organization, and a token with these limits; without limits it has all
 * permissions of the role.
 */
export async function addPerson(
  app: App,
  role: Role,
  bounds: Bounds = {},
  org_id = app.org_id,
): Promise<Caller> {
  const { id } = await insertUser(app.db, { full_name: role })
  await insertMembership(app.db, org_id, id, role)
  return addCaller(app, id, bounds, org_id)
}

/** A membership from before invitations existed: all credentials of the user reach it. */
export const addOldMembership = (app: App, org_id: number, user_id: number, role: Role) =>
  rows(
    app,
    `insert into memberships (organization_id, user_id, role, accepted_at)
      values ($1, $2, $3, null)`,
    [org_id, user_id, role],
  )

/** Another token for a user. */
export async function addCaller(
  app: App,
  user_id: number,
  bounds: Bounds = {},
  org_id = app.org_id,
): Promise<Caller> {
  const token = newToken(bounds.kind === 'browser' ? 'b' : 'p')
  const { id: token_id } = await insertToken(app.db, {
    user_id,
    kind: 'personal',
    name: 't',
    digest: digest(token),
    wire_profile: 'standard',
    expires_in_seconds: null,
    ...bounds,
  })
  return {
    user_id,
    token_id,
    token,
    request: (method, path, body) =>
      requestWith(app, token, method, `/v1/organizations/${org_id}${path}`, body),
  }
}

export const requestWith = (
  app: App,
  token: string,
  method: string,
  path: string,
  body?: unknown,
): Promise<ApiResponse> => app.call(method, path, body, { authorization: `Bearer ${token}` })
