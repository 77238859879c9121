import type { z } from 'zod'
import type {
  AcceptedSessionInvitation,
  AcceptSessionInvitationInput,
  OpenedInvitation,
} from '../../../src/contract/organizations/members.ts'
import type { SessionToken } from '../../../src/contract/service.ts'
import { chooseOrganization, chosenOrganization } from './chosen-organization.ts'
import { ProblemError, problemOf, unreachable } from './problem.ts'
import { routes } from './routes.ts'

export type Session = z.infer<typeof SessionToken>
export type Invitation = z.infer<typeof OpenedInvitation>

export type SessionHolder = {
  /** A token that is good for another minute at least. Rejects with ProblemError; 401 means: sign in. */
  current(): Promise<Session>
  /** Forgets the token, so that the next call asks for a new one. */
  forget(token: string): void
  signIn(code: string): Promise<void>
  /** What an invitation is to. Rejects with ProblemError, 404 for a link that is not valid. */
  openInvitation(code: string): Promise<Invitation>
  /** Joins with a new account or the one that is signed in; later calls are about the organization. */
  acceptInvitation(input: z.input<typeof AcceptSessionInvitationInput>): Promise<void>
  /** Later calls are about this organization. */
  choose(organization_id: number): void
  signOut(): Promise<void>
}

const renew_before_ms = 60_000

/** Keeps the bearer token in memory only; the cookie that earns a new one is HttpOnly and good for /session alone. */
export function createSession(request: typeof fetch, now: () => number = Date.now): SessionHolder {
  let held: Session | null = null
  let pending: Promise<Session> | null = null

  const ask = async (route: { method: string; path: string }, body?: unknown) => {
    const headers = body === undefined ? undefined : { 'content-type': 'application/json' }
    const response = await request(route.path, {
      method: route.method,
      headers,
      body: body === undefined ? undefined : JSON.stringify(body),
    }).catch(error => Promise.reject(unreachable(error)))
    if (!response.ok) throw await problemOf(response)
    return response.json()
  }

  const renew = async () => {
    const session: Session = await ask(routes.createSessionToken)
    const chosen = chosenOrganization()
    const reached = session.organizations.some(({ id }) => id === chosen)
    held = chosen !== null && reached ? { ...session, organization_id: chosen } : session
    return held
  }

  return {
    current() {
      if (held && Date.parse(held.expires_at) - now() > renew_before_ms) return Promise.resolve(held)
      pending ??= renew().finally(() => {
        pending = null
      })
      return pending
    },
    forget(token) {
      if (held?.token === token) held = null
    },
    async signIn(code) {
      await ask(routes.createSession, { code })
      held = null
    },
    openInvitation: code => ask(routes.openInvitation, { code }),
    async acceptInvitation(input) {
      const { organization_id }: z.infer<typeof AcceptedSessionInvitation> = await ask(routes.acceptSessionInvitation, input)
      this.choose(organization_id)
    },
    choose(organization_id) {
      chooseOrganization(organization_id)
      held = null
    },
    async signOut() {
      await ask(routes.deleteSession)
      held = null
    },
  }
}

export const session = createSession((input, init) => fetch(input, init))

/** Whether an error means that this browser is not signed in. */
export const isSignedOut = (error: unknown) => error instanceof ProblemError && error.status === 401
