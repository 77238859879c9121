import { createServer, type Server } from 'node:http'

/**
 * A server of MCP with its authorization server, up to the begin of a sign-in: it names itself by the host of
 * the request.
 */
export const createSignInServer = (): Server =>
  createServer((request, response) => {
    request.resume()
    const origin = `http://${request.headers.host}`
    const documents: Record<string, object> = {
      '/.well-known/oauth-protected-resource': { resource: `${origin}/mcp`, authorization_servers: [origin] },
      '/.well-known/oauth-authorization-server': {
        issuer: origin,
        authorization_endpoint: `${origin}/authorize`,
        token_endpoint: `${origin}/token`,
        registration_endpoint: `${origin}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
      },
      '/register': { client_id: 'agents-of-acme', redirect_uris: [] },
    }
    const document = documents[request.url ?? '']
    const challenge = {
      'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource"`,
    }
    if (document === undefined) response.writeHead(401, challenge).end()
    else response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(document))
  })
