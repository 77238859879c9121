const PREFIX = 'AGENTRUN_MCP_CREDENTIAL_'
const SIGN_IN_PREFIX = 'AGENTRUN_MCP_SIGN_IN_'

/**
 * Returns the name of the secret that holds the credential of an MCP server, so that credentials are sealed,
 * rotated and redacted like all secrets. Different servers have different names: those of servers have no
 * underscore.
 */
export const mcpCredentialName = (server: string): string => PREFIX + upper(server)

/** Returns the name of the secret that holds the sign-in to an MCP server. */
export const mcpSignInName = (server: string): string => SIGN_IN_PREFIX + upper(server)

const upper = (server: string) => server.toUpperCase().replaceAll('-', '_')

/** Returns whether a secret is the sign-in to an MCP server: a document with several secret values. */
export const isMcpSignIn = (name: string): boolean => name.startsWith(SIGN_IN_PREFIX)

/**
 * Returns whether a secret is a credential of an MCP server, which no sandbox gets, not even for setup
 * commands.
 */
export const isMcpCredential = (name: string): boolean => name.startsWith(PREFIX) || isMcpSignIn(name)
