import { digest, newSignInCode, newToken, tokenPrefix } from '../../core/access/token.ts'
import { ServiceError } from '../../core/service-error.ts'
import { getAccount } from '../../store/access/accounts.ts'
import type { Login } from '../../store/access/logins.ts'
import { lockUser } from '../../store/access/members.ts'
import { listOrganizations } from '../../store/access/organizations.ts'
import {
  deleteBrowserSession,
  findBrowserSession,
  insertBrowserSession,
  insertSignInLink,
  lockBrowserSession,
  recordSignIn,
  spendSignInLink,
  userOfSignInLink,
} from '../../store/access/sessions.ts'
import { insertToken } from '../../store/access/token-access.ts'
import type { Db } from '../../store/database.ts'
import type { Services } from '../context.ts'
import { join, viewInvitation } from './invitations.ts'

const LINK_MINUTES = 15
const SESSION_DAYS = 30
const TOKEN_SECONDS = 15 * 60
const MAX_LISTED = 100

export const SESSION_SECONDS = SESSION_DAYS * 86_400

/** Returns the address that signs a user in. The code follows `#`, so it does not reach server logs. */
export const signInAddress = (base_url: string, code: string) => `${base_url}/sign-in#code=${code}`

/** Creates a link that signs its user in once, within 15 minutes: for the operator. */
export async function newSignInLink(
  { db, base_url }: Pick<Services, 'base_url'> & { db: Db },
  user_id: number,
): Promise<string> {
  const code = newSignInCode()
  await insertSignInLink(db, { digest: digest(code), user_id, minutes: LINK_MINUTES, login: null })
  return signInAddress(base_url, code)
}

/**
 * Consumes the code of a sign-in link and returns the cookie's value. Throws 401 when it is used, too old or
 * wrong.
 */
export async function signIn(services: Services, code: string): Promise<{ cookie: string }> {
  return services.db.transaction(async tx => {
    const user_id = await userOfSignInLink(tx, digest(code))
    // Locks the account before its links, in the same order as the functions that void links, to prevent a
    // deadlock.
    if (user_id !== undefined) await lockUser(tx, user_id)
    const link = user_id !== undefined && (await spendSignInLink(tx, digest(code)))
    if (!link)
      throw new ServiceError(
        'unauthorized',
        'This sign-in link is wrong, used or too old. An administrator can give you a new one, and every start of the service creates one.',
      )
    return openSession(tx, link)
  })
}

async function openSession(
  tx: Db,
  { user_id, login }: { user_id: number; login: Login },
): Promise<{ cookie: string }> {
  const cookie = newSignInCode()
  await insertBrowserSession(tx, { digest: digest(cookie), user_id, days: SESSION_DAYS, login })
  await recordSignIn(tx, user_id)
  return { cookie }
}

/**
 * Returns an invitation and the account that is signed in in this browser: null for none. Throws 404 as
 * `acceptAsNewAccount`.
 */
export async function viewInvitationAs({ db }: Services, code: string, cookie: string | undefined) {
  const invitation = await viewInvitation({ db }, code)
  const session = cookie === undefined ? undefined : await findBrowserSession(db, digest(cookie))
  const user = session && (await getAccount(db, session.user_id))
  return { ...invitation, account: user ? { user_id: user.id, full_name: user.full_name } : null }
}

/**
 * Joins a new account to the organization of an invitation and signs it in. Throws 404 for a wrong, used,
 * revoked or expired code.
 */
export async function acceptAsNewAccount(services: Services, code: string, request_id: string) {
  return services.db.transaction(async tx => {
    const { user_id, organization_id, at } = await join(tx, code, {
      user_id: null,
      credential: null,
      request_id,
    })
    return { ...(await openSession(tx, { user_id, login: { at, acceptances: [] } })), organization_id }
  })
}

/**
 * Joins the account that is signed in. Throws 401 without a live sign-in cookie, 404 as for a new account,
 * 409 for a member.
 */
export async function acceptAsSignedIn(
  services: Services,
  code: string,
  cookie: string | undefined,
  request_id: string,
) {
  return services.db.transaction(async tx => {
    const session_digest = cookie === undefined ? null : digest(cookie)
    const session = session_digest && (await findBrowserSession(tx, session_digest))
    if (!session) throw new ServiceError('unauthorized', 'Not signed in.')
    const { organization_id } = await join(tx, code, {
      user_id: session.user_id,
      credential: { token_id: null, session_digest },
      request_id,
    })
    return { organization_id }
  })
}

/**
 * Creates a bearer token for the page, valid for 15 minutes, with the organizations that it reaches. Throws
 * 401 without a live sign-in cookie, 403 without an organization.
 */
export async function newSessionToken(services: Services, cookie: string | undefined) {
  const session_digest = cookie === undefined ? null : digest(cookie)
  const token = newToken('b')
  return services.db.transaction(async tx => {
    // A sign-out waits for this token and revokes it.
    const session = session_digest && (await lockBrowserSession(tx, session_digest))
    if (!session) throw new ServiceError('unauthorized', 'Not signed in.')
    const { user_id, login } = session
    const row = await insertToken(tx, {
      user_id,
      login,
      kind: 'browser',
      name: 'web interface',
      wire_profile: 'standard',
      expires_in_seconds: TOKEN_SECONDS,
      session_digest,
      prefix: tokenPrefix(token),
      hint: token.slice(-4),
      digest: digest(token),
    })
    const { rows } = await listOrganizations(tx, row.id, { skip: 0, limit: MAX_LISTED })
    const [first] = rows
    if (!first) throw new ServiceError('forbidden', 'You are not a member of any organization.')
    const organizations = rows.map(({ id, name }) => ({ id, name }))
    const expires_at = row.expires_at ?? new Date(0)
    return { token, expires_at: expires_at.toISOString(), user_id, organization_id: first.id, organizations }
  })
}

export async function signOut(services: Services, cookie: string | undefined): Promise<void> {
  if (cookie !== undefined) await services.db.transaction(tx => deleteBrowserSession(tx, digest(cookie)))
}
