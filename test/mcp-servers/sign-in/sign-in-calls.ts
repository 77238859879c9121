import { requestWith } from '../../api/members/people.ts'
import { rows } from '../../start-app.ts'
import { pathOf, type startMcpApp } from '../mcp-app.ts'
import type { serveSignIn } from './authorization-server.ts'

type McpApp = Awaited<ReturnType<typeof startMcpApp>>
export type Remote = Awaited<ReturnType<typeof serveSignIn>>

/** The settings of a server to which a person signs in. */
export const sign_in = { client_id: null, issuer: null, scope: null }
/** The response to a completed sign-in. */
export const signed_in = { server: 'tickets', repo_id: null, problem: null }

/** The requests of a sign-in to the server `tickets`, each with its own token. */
export function signInCalls(app: McpApp) {
  const pathIn = (org_id: number) => `/v1/organizations/${org_id}/mcp-sign-in`
  const start = (repo_id?: number, token = app.token) =>
    requestWith(app, token, 'POST', `${pathOf(app, repo_id)}/tickets/sign-in`)
  return {
    start,
    /**
     * Begins a sign-in that a person allows, and returns the address to which the authorization server sends
     * the browser.
     */
    async begin(
      remote: Remote,
      { repo_id, token = app.token }: { repo_id?: number; token?: string } = {},
    ): Promise<URL> {
      await app.servers.set('tickets', { url: remote.url, sign_in }, repo_id)
      return remote.allow((await start(repo_id, token)).body.authorization_url)
    },
    /** What the page of the web interface requests for that address. */
    view: (back: URL, token = app.token, org_id = app.org_id) =>
      requestWith(
        app,
        token,
        'GET',
        `${pathIn(org_id)}?${new URLSearchParams({ state: back.searchParams.get('state') ?? '' })}`,
      ),
    finish: (back: URL, token = app.token, org_id = app.org_id) =>
      requestWith(app, token, 'POST', pathIn(org_id), Object.fromEntries(back.searchParams)),
    stored: () => rows(app, `select key_id, sealed from secrets where name = 'AGENTRUN_MCP_SIGN_IN_TICKETS'`),
  }
}
