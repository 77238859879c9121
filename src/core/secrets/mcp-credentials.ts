const PREFIX = 'AGENTRUN_MCP_CREDENTIAL_'

/**
 * Returns the name of the secret that holds the credential of an MCP server, so that credentials are sealed, rotated and redacted like all
 * secrets. Different servers have different names: those of servers have no underscore.
 */
export const mcpCredentialName = (server: string): string => PREFIX + server.toUpperCase().replaceAll('-', '_')

/** Returns whether a secret is the credential of an MCP server, which no sandbox gets, not even for setup commands. */
export const isMcpCredential = (name: string): boolean => name.startsWith(PREFIX)
