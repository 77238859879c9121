import type { BegunSignIn, PendingSignIn, SignInRequest, Tokens } from '../../core/secrets/mcp-sign-in.ts'

/**
 * Signs in to MCP servers by OAuth, under the rules of the service's own requests. Never rejects: a failure
 * is data.
 */
export type McpSignInClient = {
  /**
   * Discovers the authorization server and registers a client. Returns the page where the person signs in.
   */
  begin(organization_id: number, request: SignInRequest): Promise<BegunSignIn | { problem: string }>
  exchange(
    organization_id: number,
    pending: PendingSignIn,
    response: { code: string; iss: string | undefined; redirect_url: string },
  ): Promise<Tokens | { problem: string }>
}
