import type { FastifyInstance, FastifyReply, FastifyRequest } from 'fastify'
import type { z } from 'zod'
import { methodsOf, scopes } from '../../contract/endpoint.ts'
import { ExchangeInput, RegisterClientInput } from '../../contract/oauth/oauth.ts'
import { AUTHORIZE_PATH, oauthOperations } from '../../contract/oauth/oauth-endpoints.ts'
import { ServiceError } from '../../core/service-error.ts'
import { UnknownToken } from '../../service/access/authenticate.ts'
import { exchangeCode, registerClient } from '../../service/access/oauth.ts'
import type { Services } from '../../service/context.ts'
import type { FailedTokens } from '../failed-tokens.ts'

/** No request of a client comes near them. */
const BODY_BYTES = 16_384
const MAX_FIELDS = 20
const CODE = /^[\w-]{32}$/

/**
 * Adds the sign-in of programs by OAuth 2.1 (specification.md#mcp): metadata (RFC 8414), registration (RFC
 * 7591) and the exchange of a code with PKCE. The person allows a program on the page at `/oauth/authorize`.
 * Responses have the form that these standards demand.
 */
export function addOAuthRoutes(
  app: FastifyInstance,
  { services, failed }: { services: Services; failed: FailedTokens },
) {
  const { getOAuthMetadata, registerOAuthClient, exchangeOAuthCode } = oauthOperations
  app.route({
    method: methodsOf(getOAuthMetadata),
    url: getOAuthMetadata.path,
    handler: async () => metadata(services),
  })
  app.post(registerOAuthClient.path, { bodyLimit: BODY_BYTES }, async (request, reply) => {
    const parsed = RegisterClientInput.safeParse(request.body)
    if (!parsed.success) return refuse(reply, isAbout(parsed.error, 'redirect_uris'), describe(parsed.error))
    try {
      const { client_id, name, redirect_uris } = registerClient(services, parsed.data)
      const fixed = {
        token_endpoint_auth_method: 'none',
        grant_types: ['authorization_code'],
        response_types: ['code'],
      }
      return reply.code(201).send({ client_id, client_name: name, redirect_uris, ...fixed })
    } catch (error) {
      if (!(error instanceof ServiceError) || error.code !== 'invalid_request') throw error
      return refuse(reply, 'invalid_redirect_uri', error.message)
    }
  })
  app.register(async forms => {
    forms.addContentTypeParser(
      'application/x-www-form-urlencoded',
      { parseAs: 'string', bodyLimit: BODY_BYTES },
      (_request, body, done) => done(null, formOf(body as string)),
    )
    forms.post(exchangeOAuthCode.path, { bodyLimit: BODY_BYTES }, async (request, reply) =>
      exchange(request, reply, { services, failed }),
    )
  })
}

const metadata = ({ base_url }: Services) => ({
  issuer: base_url,
  authorization_endpoint: base_url + AUTHORIZE_PATH,
  token_endpoint: base_url + oauthOperations.exchangeOAuthCode.path,
  registration_endpoint: base_url + oauthOperations.registerOAuthClient.path,
  scopes_supported: scopes,
  response_types_supported: ['code'],
  grant_types_supported: ['authorization_code'],
  code_challenge_methods_supported: ['S256'],
  token_endpoint_auth_methods_supported: ['none'],
  authorization_response_iss_parameter_supported: true,
  service_documentation: `${base_url}/docs`,
})

async function exchange(
  request: FastifyRequest,
  reply: FastifyReply,
  { services, failed }: { services: Services; failed: FailedTokens },
): Promise<FastifyReply> {
  const { grant_type } = Object(request.body)
  if (grant_type !== 'authorization_code')
    return refuse(reply, 'unsupported_grant_type', 'grant_type: must be authorization_code')
  const parsed = ExchangeInput.safeParse(request.body)
  if (!parsed.success) return refuse(reply, 'invalid_request', describe(parsed.error))
  // What cannot be a code costs the database nothing.
  const exchanged = CODE.test(parsed.data.code) ? await exchangeCode(services, parsed.data) : null
  if (exchanged === null) {
    const error = failed.refuse(request.ip, new UnknownToken())
    if (error instanceof ServiceError && error.code === 'rate_limited') throw error
    return refuse(
      reply,
      'invalid_grant',
      'The code is wrong, used or too old, or it is of another client, address, secret or resource.',
    )
  }
  const { token, expires_in, scopes: given } = exchanged
  return reply.send({ access_token: token, token_type: 'Bearer', expires_in, scope: given.join(' ') })
}

/**
 * The fields of a form. A field that is repeated is left out, so that its absence is reported (RFC 6749,
 * 3.2); so are all of an endless form.
 */
function formOf(body: string): Record<string, string> {
  const values = new Map<string, string | null>()
  for (const [name, value] of new URLSearchParams(body)) {
    values.set(name, values.has(name) ? null : value)
    if (values.size > MAX_FIELDS) return {}
  }
  return Object.fromEntries([...values].filter((field): field is [string, string] => field[1] !== null))
}

const refuse = (reply: FastifyReply, error: string, error_description: string) =>
  reply.code(400).send({ error, error_description })

const describe = ({ issues: [first] }: z.ZodError) =>
  first === undefined ? '' : `${first.path.join('.') || 'body'}: ${first.message}`

const isAbout = ({ issues }: z.ZodError, field: string) =>
  issues[0]?.path[0] === field ? 'invalid_redirect_uri' : 'invalid_client_metadata'
