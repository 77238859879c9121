import { z } from 'zod'
import { type Endpoint, none, open, scopes } from '../endpoint.ts'

export const MCP_PATH = '/mcp'

/**
 * Describes to clients how to authenticate (RFC 9728): the well-known path, followed by the path of the
 * resource.
 */
export const RESOURCE_METADATA_PATH = `/.well-known/oauth-protected-resource${MCP_PATH}`

/** OAuth 2.0 Protected Resource Metadata (RFC 9728). */
const ResourceMetadata = z.object({
  resource: z.string().describe('The address of the resource'),
  authorization_servers: z.array(z.string()).describe('Where clients sign in by OAuth: this service'),
  resource_name: z.string().describe('For people'),
  resource_documentation: z.string().describe('The page that explains tokens and operations'),
  bearer_methods_supported: z.array(z.literal('header')).describe('How a token is sent'),
  scopes_supported: z.array(z.enum(scopes)).describe('The scopes that a token can have'),
})

/**
 * The requests of the Model Context Protocol (specification.md#mcp). Not part of the API document, because
 * the protocol describes itself; each tool call is admitted as the operation that it calls.
 */
export const mcpOperations = {
  callMcp: {
    method: 'POST',
    path: MCP_PATH,
    tag: 'service',
    summary: 'A message of the Model Context Protocol',
    access: 'token',
    scope: null,
    // A message that calls an operation is charged as that operation, every other one to `standard`.
    bucket: null,
    stability: 'stable',
    params: none,
    query: none,
    body: null,
    response: 'stream',
  },
  getMcpResourceMetadata: {
    ...open,
    method: 'GET',
    path: RESOURCE_METADATA_PATH,
    aliases: ['/.well-known/oauth-protected-resource'],
    summary: 'How clients of the Model Context Protocol authenticate',
    response: ResourceMetadata,
  },
} as const satisfies Record<string, Endpoint>
