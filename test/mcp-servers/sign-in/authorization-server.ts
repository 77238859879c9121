import { createHash } from 'node:crypto'
import type { IncomingMessage, ServerResponse } from 'node:http'
import { servePlain } from '../../egress/servers.ts'
import { type HttpMcpServer, serveMcp } from '../http-server.ts'

type Document = Record<string, unknown>
export type Behaviour = {
  /** The metadata of the protected resource, and of the authorization server, as they are served. */
  resource?: (document: Document) => unknown
  metadata?: (document: Document) => unknown
  /** Responds itself to a request to the authorization server. */
  before?: (request: IncomingMessage, response: ServerResponse) => boolean
  /** What a token response has in addition to its defaults. */
  tokens?: Document
}

const json = (
  response: ServerResponse,
  status: number,
  body: unknown,
  headers: Record<string, string> = {},
) => {
  response.writeHead(status, { 'content-type': 'application/json', ...headers }).end(JSON.stringify(body))
  return true
}

/**
 * An MCP server with an authorization server that registers clients, checks PKCE and accepts each code and
 * each refresh token once.
 */
export async function serveSignIn(behaviour: Behaviour = {}) {
  await using stack = new AsyncDisposableStack()
  const challenges = new Map<string, string>()
  const state = {
    behaviour,
    /** What was requested from the authorization server, in order. */
    seen: [] as string[],
    forms: [] as Record<string, string>[],
    valid: new Set<string>(),
    refresh: new Set<string>(),
  }
  let issued = 0
  const issue = (response: ServerResponse) => {
    issued++
    const [access_token, refresh_token] = [`access-token-number-${issued}`, `refresh-token-number-${issued}`]
    state.valid = new Set([access_token])
    state.refresh = new Set([refresh_token])
    return json(response, 200, {
      access_token,
      refresh_token,
      token_type: 'Bearer',
      expires_in: 3_600,
      ...state.behaviour.tokens,
    })
  }
  const exchange = (form: Record<string, string>, response: ServerResponse) => {
    state.forms.push(form)
    const { grant_type, code = '', code_verifier = '', refresh_token = '' } = form
    if (grant_type === 'refresh_token')
      return state.refresh.delete(refresh_token) ? issue(response) : refuse(response)
    const challenge = challenges.get(code)
    challenges.delete(code)
    const matches = challenge === createHash('sha256').update(code_verifier).digest('base64url')
    return matches ? issue(response) : refuse(response)
  }
  const refuse = (response: ServerResponse) =>
    json(response, 400, { error: 'invalid_grant', error_description: 'no longer valid' })
  /** A person allows the access: returns where the browser is sent. */
  const allow = (authorization_url: string): URL => {
    const query = new URL(authorization_url).searchParams
    const code = `code-${challenges.size}-${issued}`
    challenges.set(code, query.get('code_challenge') ?? '')
    const back = new URL(query.get('redirect_uri') ?? '')
    back.search = String(new URLSearchParams({ code, state: query.get('state') ?? '', iss: issuer() }))
    return back
  }
  const authorization = stack.use(
    await servePlain(async (request, response) => {
      const { pathname } = new URL(request.url ?? '', issuer())
      state.seen.push(`${request.method} ${pathname}`)
      if (state.behaviour.before?.(request, response)) return
      const pieces: Buffer[] = []
      for await (const piece of request) pieces.push(piece)
      const body = Buffer.concat(pieces).toString()
      if (pathname === '/authorize')
        return void response.writeHead(302, { location: allow(`${issuer()}${request.url}`).href }).end()
      if (pathname === '/token') return void exchange(Object.fromEntries(new URLSearchParams(body)), response)
      if (pathname === '/register')
        return void json(response, 201, { ...JSON.parse(body), client_id: 'client-of-the-service' })
      if (pathname !== '/.well-known/oauth-authorization-server') return void json(response, 404, {})
      const document = {
        issuer: issuer(),
        authorization_endpoint: `${issuer()}/authorize`,
        token_endpoint: `${issuer()}/token`,
        registration_endpoint: `${issuer()}/register`,
        response_types_supported: ['code'],
        code_challenge_methods_supported: ['S256'],
        token_endpoint_auth_methods_supported: ['none'],
        authorization_response_iss_parameter_supported: true,
      }
      json(response, 200, state.behaviour.metadata?.(document) ?? document)
    }),
  )
  const issuer = () => `http://localhost:${authorization.port}`
  const server: HttpMcpServer = stack.use(
    await serveMcp((request, response): boolean => {
      if (request.url?.startsWith('/.well-known/oauth-protected-resource')) {
        const document = {
          resource: `${server.origin}/mcp`,
          authorization_servers: [issuer()],
          scopes_supported: ['tickets:read'],
        }
        return json(response, 200, state.behaviour.resource?.(document) ?? document)
      }
      if (state.valid.has(request.headers.authorization?.replace('Bearer ', '') ?? '')) return false
      const metadata = `Bearer resource_metadata="${server.origin}/.well-known/oauth-protected-resource/mcp"`
      return json(response, 401, {}, { 'www-authenticate': metadata })
    }),
  )
  const moved = stack.move()
  return {
    state,
    issuer: issuer(),
    url: `${server.origin}/mcp`,
    ports: [server.port, authorization.port],
    mcp: server,
    allow,
    [Symbol.asyncDispose]: () => moved.disposeAsync(),
  }
}
