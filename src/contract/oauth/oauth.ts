import { z } from 'zod'
import { scopes } from '../endpoint.ts'
import { text } from '../text.ts'

const Scope = z.enum(scopes)

/** Lengths that known clients stay below; together they fit into an address in any script. */
export const oauth_limits = {
  client_id_chars: 400,
  redirect_uris: 10,
  redirect_uri_chars: 250,
  state_chars: 2_000,
  name_chars: 60,
} as const

const clientId = z
  .string({ error: 'must be a string' })
  .regex(/^[\w.-]+$/, 'must be an id that this service gave')
  .max(oauth_limits.client_id_chars, `must have at most ${oauth_limits.client_id_chars} characters`)
  .describe('The id that the client was given when it registered')
const redirectUri = text(1, oauth_limits.redirect_uri_chars).describe(
  'Address for the code; the client has registered it',
)

export const OAuthClientQuery = z.object({ client_id: clientId, redirect_uri: redirectUri })
export type OAuthClientQuery = z.output<typeof OAuthClientQuery>

const example_client = { name: 'Claude Code', redirect_uri: 'http://127.0.0.1:53682/callback' }

/** What the page shows before a person allows a client (specification.md#mcp). */
export const OAuthClient = z
  .object({
    name: z.string().describe('The name that the client gave itself'),
    redirect_uri: z.string().describe('Address for the code'),
    host: z
      .string()
      .nullable()
      .describe('The host, or the program, that receives it; null: a program on the computer of the person'),
  })
  .meta({ id: 'OAuthClient', examples: [{ ...example_client, host: null }] })
export type OAuthClient = z.output<typeof OAuthClient>

export const AuthorizeClientInput = z
  .object({
    client_id: clientId,
    redirect_uri: redirectUri,
    code_challenge: z
      .string({ error: 'must be a string' })
      .regex(/^[\w-]{43}$/, 'must be the SHA-256 of the code verifier in base64url, 43 characters')
      .describe('SHA-256 of the secret of this sign-in (PKCE)'),
    code_challenge_method: z.literal('S256', { error: 'must be S256' }).describe('Only `S256`'),
    scopes: z.array(Scope).min(1, 'must name a scope').max(scopes.length).describe('Scopes of the token'),
    state: text(0, oauth_limits.state_chars).nullish().describe('Returned to the client unchanged'),
    resource: text(1, oauth_limits.redirect_uri_chars)
      .nullish()
      .describe('Purpose of the token (RFC 8707): the address of this service or of its `/mcp`'),
  })
  .meta({
    id: 'AuthorizeClientInput',
    examples: [
      {
        client_id: '3f2a9c.AAECAwQFBgcICQoL',
        redirect_uri: example_client.redirect_uri,
        code_challenge: 'E9Melhoa2OwvFrEMTJguCHaoeK1t8URWbuGJSstw-cM',
        code_challenge_method: 'S256',
        scopes: ['runs:read', 'runs:write', 'logs:read'],
        state: 'af0ifjsldkj',
      },
    ],
  })
export type AuthorizeClientInput = z.output<typeof AuthorizeClientInput>

export const ClientAuthorization = z
  .object({
    redirect_to: z
      .string()
      .describe(
        'The address that the browser opens: it gives the client a code, valid once within 60 seconds',
      ),
  })
  .meta({
    id: 'ClientAuthorization',
    examples: [
      {
        redirect_to:
          'http://127.0.0.1:53682/callback?code=pG8…&state=af0ifjsldkj&iss=https%3A%2F%2Fagents.example.com',
      },
    ],
  })

/** The body of a registration (RFC 7591). What else a client sends is ignored. */
export const RegisterClientInput = z.object({
  redirect_uris: z
    .array(text(1, oauth_limits.redirect_uri_chars), { error: 'must be a list of addresses' })
    .min(1, 'must contain an address')
    .max(oauth_limits.redirect_uris, `must contain at most ${oauth_limits.redirect_uris} addresses`),
  client_name: text(0, 1_000).nullish(),
})
export type RegisterClientInput = z.output<typeof RegisterClientInput>

/** The fields of a form that exchanges a code (RFC 6749, 4.1.3). */
export const ExchangeInput = z.object({
  code: text(1, 100),
  client_id: clientId,
  redirect_uri: redirectUri,
  code_verifier: z
    .string({ error: 'must be a string' })
    .regex(/^[\w.~-]{43,128}$/, 'must have 43 to 128 letters, digits and -._~'),
  resource: text(1, oauth_limits.redirect_uri_chars).optional(),
})
export type ExchangeInput = z.output<typeof ExchangeInput>
