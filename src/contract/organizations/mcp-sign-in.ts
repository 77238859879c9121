import { z } from 'zod'
import { text, web_address } from '../text.ts'

/** Returns the schema of an address of another service. Its credentials are set apart from it. */
export const httpAddress = () =>
  text(1, 2_000)
    .refine(value => /^https?:$/.test(URL.parse(value)?.protocol ?? ''), 'must be an http or https address')
    .refine(
      value => (URL.parse(value)?.username ?? '') === '',
      'must not contain credentials: set `credential`',
    )
    .meta({ wire_rules: web_address })

export const McpSignIn = z
  .object({
    client_id: text(1, 500)
      .nullable()
      .describe(
        'Client that is registered at the authorization server for this service; null: the service registers itself',
      ),
    issuer: httpAddress()
      .nullable()
      .describe(
        'The `issuer` of the only authorization server that is accepted, required with `client_id`; null: the one that the server names',
      ),
    scope: text(1, 1_000)
      .nullable()
      .describe('Scopes to request, separated by blanks; null: those that the server names'),
  })
  .meta({ id: 'McpSignIn', examples: [{ client_id: null, issuer: null, scope: null }] })

export const McpSignInState = z
  .object({
    status: z
      .enum(['signed_in', 'expired', 'signed_out'])
      .describe('`expired`: the access has ended and cannot be renewed without a person'),
    issuer: z.string().nullable().describe('The authorization server; null: nobody has signed in'),
    signed_in_at: z.iso.datetime().nullable().describe('Time of the sign-in'),
    expires_at: z.iso
      .datetime()
      .nullable()
      .describe('Time at which it ends; null: it is renewed without a person, or the time is unknown'),
    problem: z
      .string()
      .nullable()
      .describe(
        'The reason of the last failure of a sign-in or renewal, or null if none has failed since the last sign-in',
      ),
  })
  .meta({
    id: 'McpSignInState',
    examples: [
      {
        status: 'signed_in',
        issuer: 'https://auth.example.com',
        signed_in_at: '2026-11-20T10:30:00.000Z',
        expires_at: null,
        problem: null,
      },
    ],
  })

export const McpSignInStart = z
  .object({
    authorization_url: z
      .string()
      .describe(
        'The page of the authorization server. Open it in a browser that is signed in to this service as a person who may set the server',
      ),
    expires_at: z.iso.datetime().describe('Time until which the sign-in must be completed'),
  })
  .meta({
    id: 'McpSignInStart',
    examples: [
      {
        authorization_url: 'https://auth.example.com/authorize?client_id=c&state=s',
        expires_at: '2026-11-20T10:40:00.000Z',
      },
    ],
  })

const state = () => text(1, 500).describe('The `state` that the authorization server passed back')

export const McpSignInQuery = z.object({ state: state() })

export const McpSignInRequest = z
  .object({
    server: z.string().describe('The name of the MCP server'),
    repo_id: z.int().nullable().describe('The repository that it belongs to; null: the organization'),
    url: z.string().describe('The address of the MCP server, which receives the access'),
    issuer: z.string().describe('The authorization server'),
    started_by: z.int().describe('The user who began the sign-in'),
    expires_at: z.iso.datetime().describe('Time until which it must be completed'),
  })
  .meta({
    id: 'McpSignInRequest',
    examples: [
      {
        server: 'tickets',
        repo_id: null,
        url: 'https://tickets.example.com/mcp',
        issuer: 'https://auth.example.com',
        started_by: 1,
        expires_at: '2026-11-20T10:40:00.000Z',
      },
    ],
  })

const passed = (about: string) => text(1, 8_000).optional().describe(about)

/** What an authorization server passes back. What is not of its protocol is ignored. */
export const McpSignInResponse = z
  .object({
    state: state(),
    code: passed('The code that the authorization server passed'),
    iss: passed('The issuer (RFC 9207)'),
    error: passed('The error of the authorization server, instead of a code'),
    error_description: passed('The error as a text for people'),
  })
  .meta({
    id: 'McpSignInResponse',
    examples: [{ state: '1.k.s', code: 'c', iss: 'https://auth.example.com' }],
  })
export type McpSignInResponse = z.output<typeof McpSignInResponse>

export const McpSignInResult = z
  .object({
    server: z.string().describe('The name of the MCP server'),
    repo_id: z.int().nullable().describe('The repository that it belongs to; null: the organization'),
    problem: z
      .string()
      .nullable()
      .describe('Reason of the failure, also shown in the settings; null: you are signed in'),
  })
  .meta({ id: 'McpSignInResult', examples: [{ server: 'tickets', repo_id: null, problem: null }] })
