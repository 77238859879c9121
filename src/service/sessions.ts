import { ServiceError } from '../core/service-error.ts'
import { digest, newSignInCode, newToken, tokenPrefix } from '../core/token.ts'
import { insertToken } from '../store/accounts.ts'
import type { Db } from '../store/database.ts'
import { firstOrganizationOf } from '../store/organizations.ts'
import {
  deleteBrowserSession,
  findBrowserSession,
  insertBrowserSession,
  insertSignInLink,
  recordSignIn,
  useSignInLink,
} from '../store/sessions.ts'
import type { Services } from './context.ts'

const LINK_MINUTES = 15
const SESSION_DAYS = 30
const TOKEN_SECONDS = 15 * 60

export const SESSION_SECONDS = SESSION_DAYS * 86_400

/** The address that signs somebody in. The code stands behind `#`, where no server log sees it. */
export const signInAddress = (base_url: string, code: string) => `${base_url}/sign-in#code=${code}`

/** A link that signs its user in once, within 15 minutes: for the operator. */
export async function newSignInLink({ db, base_url }: Pick<Services, 'base_url'> & { db: Db }, user_id: number): Promise<string> {
  const code = newSignInCode()
  await insertSignInLink(db, digest(code), user_id, LINK_MINUTES)
  return signInAddress(base_url, code)
}

/** Uses the code of a sign-in link up and answers the cookie's value. 401 when it is used, too old or wrong. */
export async function signIn(services: Services, code: string): Promise<{ cookie: string }> {
  return services.db.transaction(async tx => {
    const link = await useSignInLink(tx, digest(code))
    if (!link)
      throw new ServiceError(
        'unauthorized',
        'This sign-in link is wrong, used or too old. An administrator can give you a new one, and a start of the service prints one.',
      )
    const cookie = newSignInCode()
    await insertBrowserSession(tx, digest(cookie), link.user_id, SESSION_DAYS)
    await recordSignIn(tx, link.user_id)
    return { cookie }
  })
}

/** A bearer token for the page, good for 15 minutes. 401 without a live sign-in cookie. */
export async function newSessionToken(services: Services, cookie: string | undefined) {
  const session = cookie === undefined ? undefined : await findBrowserSession(services.db, digest(cookie))
  if (!session) throw new ServiceError('unauthorized', 'Not signed in.')
  const organization = await firstOrganizationOf(services.db, session.user_id)
  if (!organization) throw new ServiceError('forbidden', 'You are not a member of any organization.')
  const token = newToken('b')
  const row = await insertToken(services.db, {
    user_id: session.user_id,
    kind: 'browser',
    prefix: tokenPrefix(token),
    hint: token.slice(-4),
    name: 'web interface',
    digest: digest(token),
    wire_profile: 'standard',
    expires_in_seconds: TOKEN_SECONDS,
  })
  const expires_at = row.expires_at ?? new Date(0)
  return { token, expires_at: expires_at.toISOString(), user_id: session.user_id, organization_id: organization.id }
}

export async function signOut(services: Services, cookie: string | undefined): Promise<void> {
  if (cookie !== undefined) await deleteBrowserSession(services.db, digest(cookie))
}
