import type { z } from 'zod'
import type { Core } from '../../../src/client/sdk/request.ts'
import type {
  AcceptSessionInvitationInput,
  OpenedInvitation,
} from '../../../src/contract/organizations/members.ts'
import type { SessionToken } from '../../../src/contract/service.ts'
import { chooseOrganization, chosenOrganization } from './chosen-organization.ts'

type Session = z.infer<typeof SessionToken>
export type Invitation = z.infer<typeof OpenedInvitation>

type SessionHolder = {
  /** A token that is valid for another minute at least. Rejects with AgentRunError; 401 means: sign in. */
  current(): Promise<Session>
  /** Forgets the token, so that the next call requests a new one. */
  forget(token: string): void
  signIn(code: string): Promise<void>
  /** Describes an invitation. Rejects with AgentRunError, 404 for a link that is not valid. */
  openInvitation(code: string): Promise<Invitation>
  /** Joins with a new account or the one that is signed in, and switches to the organization. */
  acceptInvitation(input: z.input<typeof AcceptSessionInvitationInput>): Promise<void>
  /** Switches to an organization: later calls are about it. */
  choose(organization_id: number): void
  signOut(): Promise<void>
}

const RENEW_BEFORE_MS = 60_000

/**
 * Keeps the bearer token in memory only; the cookie that is exchanged for a new one is HttpOnly and limited
 * to /session.
 */
export function createSession({ call }: Pick<Core, 'call'>, now: () => number = Date.now): SessionHolder {
  let cached: Session | null = null
  let pending: Promise<Session> | null = null

  const renew = async () => {
    const session = await call('createSessionToken')
    const chosen = chosenOrganization()
    const is_member = session.organizations.some(({ id }) => id === chosen)
    cached = chosen !== null && is_member ? { ...session, organization_id: chosen } : session
    return cached
  }

  return {
    current() {
      if (cached && Date.parse(cached.expires_at) - now() > RENEW_BEFORE_MS) return Promise.resolve(cached)
      pending ??= renew().finally(() => {
        pending = null
      })
      return pending
    },
    forget(token) {
      if (cached?.token === token) cached = null
    },
    async signIn(code) {
      await call('createSession', { body: { code } })
      cached = null
    },
    openInvitation: code => call('openInvitation', { body: { code } }),
    async acceptInvitation(input) {
      const { organization_id } = await call('acceptSessionInvitation', { body: input })
      this.choose(organization_id)
    },
    choose(organization_id) {
      chooseOrganization(organization_id)
      cached = null
    },
    async signOut() {
      await call('deleteSession')
      cached = null
    },
  }
}
