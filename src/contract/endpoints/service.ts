import { type Endpoint, open } from '../endpoint.ts'
import {
  AcceptedSessionInvitation,
  AcceptInvitationInput,
  AcceptSessionInvitationInput,
  OpenedInvitation,
} from '../organizations/members.ts'
import { Health, Readiness, SessionToken, SignedIn, SignedOut, SignInInput } from '../service.ts'

/** The service itself: endpoints without a bearer token (specification.md#access). */
export const serviceEndpoints = {
  createSession: {
    ...open,
    method: 'POST',
    path: '/session',
    summary: 'Sign in to the web interface with a one-time code',
    body: SignInInput,
    problems: ['unauthorized', 'forbidden'],
    response: SignedIn,
  },
  createSessionToken: {
    ...open,
    access: 'cookie',
    method: 'POST',
    path: '/session/token',
    summary: 'Get a bearer token for 15 minutes, for the web interface',
    problems: ['unauthorized', 'forbidden'],
    response: SessionToken,
  },
  openInvitation: {
    ...open,
    access: 'cookie',
    method: 'POST',
    path: '/session/invitation',
    summary: 'Get the organization of an invitation link, and whether this browser is signed in',
    body: AcceptInvitationInput,
    problems: ['forbidden', 'not_found'],
    response: OpenedInvitation,
  },
  acceptSessionInvitation: {
    ...open,
    access: 'cookie',
    method: 'POST',
    path: '/session/invitation/accept',
    summary: 'Accept an invitation in the browser',
    description:
      'With a new account, which is signed in, or with the account that is signed in. Other sessions of that account do not reach the organization. 401 for `signed_in` without a live session; 404 for an invitation that is wrong, used, revoked or expired; 409 for a member.',
    body: AcceptSessionInvitationInput,
    problems: ['unauthorized', 'forbidden', 'not_found', 'conflict'],
    response: AcceptedSessionInvitation,
  },
  deleteSession: {
    ...open,
    access: 'cookie',
    method: 'DELETE',
    path: '/session',
    summary: 'Sign out of the web interface',
    problems: ['forbidden'],
    response: SignedOut,
  },
  getHealth: {
    ...open,
    method: 'GET',
    path: '/healthz',
    summary: 'Check that the process is alive',
    response: Health,
  },
  getReadiness: {
    ...open,
    method: 'GET',
    path: '/readyz',
    summary: 'Check that the database responds, and report whether workers can start runs',
    response: Readiness,
  },
  getOpenApi: {
    ...open,
    method: 'GET',
    path: '/openapi.json',
    summary: 'Get this document',
    response: 'document',
  },
} as const satisfies Record<string, Endpoint>
