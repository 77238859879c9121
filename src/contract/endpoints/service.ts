import { type Endpoint, open } from '../endpoint.ts'
import { Health, Readiness, SessionToken, SignedIn, SignedOut, SignInInput } from '../service.ts'

/** The service itself: what is reached without a bearer token (decisions §9). */
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
    summary: 'A bearer token for 15 minutes, for the web interface',
    problems: ['unauthorized', 'forbidden'],
    response: SessionToken,
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
  getHealth: { ...open, method: 'GET', path: '/healthz', summary: 'The process is alive', response: Health },
  getReadiness: {
    ...open,
    method: 'GET',
    path: '/readyz',
    summary: 'The database answers; whether workers can start runs',
    response: Readiness,
  },
  getOpenApi: { ...open, method: 'GET', path: '/openapi.json', summary: 'This document', response: 'document' },
} as const satisfies Record<string, Endpoint>
