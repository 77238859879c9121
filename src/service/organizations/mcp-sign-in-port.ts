import type { PendingSignIn, Tokens } from '../../core/secrets/mcp-sign-in.ts'

type SignInRequest = {
  url: string
  client: { client_id: string; client_secret: string | null } | null
  issuer: string | null
  scope: string | null
  redirect_url: string
  state: string
}

/** Signs in to MCP servers by OAuth, under the rules of the service's own requests. Never rejects: a failure is data. */
export type McpSignInClient = {
  /** Discovers the authorization server and registers a client. Returns the page where the person signs in. */
  begin(
    organization_id: number,
    request: SignInRequest,
  ): Promise<{ authorization_url: string; pending: Omit<PendingSignIn, 'id' | 'expires_at'> } | { problem: string }>
  exchange(
    organization_id: number,
    pending: PendingSignIn,
    response: { code: string; iss: string | undefined; redirect_url: string },
  ): Promise<Tokens | { problem: string }>
}
