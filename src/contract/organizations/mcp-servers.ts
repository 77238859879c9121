import { z } from 'zod'
import { limits } from '../limits.ts'
import { pageOf } from '../page.ts'
import { text } from '../text.ts'
import { httpAddress, McpSignIn, McpSignInState } from './mcp-sign-in.ts'

/** A letter first, as all providers require of the tools that begin with it. */
const SERVER_NAME = /^[a-z][a-z0-9]*(?:-[a-z0-9]+)*$/
const MAX_NAME = 32
const VARIABLE = /^[A-Za-z_][A-Za-z0-9_]{0,99}$/
const HEADER = /^[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}$/
/** Headers that the connection itself determines. */
const OWN_HEADER =
  /^(?:host|content-length|content-type|connection|transfer-encoding|accept|expect|upgrade|te|trailer|mcp-.*|proxy-.*)$/i
const DEFAULT_SECONDS = 60

/** Returns the schema of the name of an MCP server in a path. */
export const mcpServerName = () =>
  z
    .string()
    .max(MAX_NAME)
    .regex(
      SERVER_NAME,
      'must be 1 to 32 lower-case letters, digits and single hyphens between them, and begin with a letter',
    )
    .meta({ wire: { type: 'string', pattern: SERVER_NAME.source, maxLength: MAX_NAME } })
    .describe('The name of the MCP server')

const header_name = z
  .string()
  .regex(HEADER, 'must be the name of a header')
  .refine(name => !OWN_HEADER.test(name), 'is a header that the connection determines')
const ONE_LINE = /^[^\r\n]*$/
const header_value = text(0, limits.mcp_argument_chars)
  .refine(value => ONE_LINE.test(value), 'must be one line')
  .meta({ wire_rules: { pattern: ONE_LINE.source } })
const url = httpAddress()
const issuer = url.describe(
  'The `issuer` of the authorization server, which is the only one that receives the credential. It must be reachable by the egress rules too',
)

const OAuthClient = z
  .object({
    client_id: text(1, 500).describe('The id of the client'),
    issuer,
    scope: text(1, 1_000)
      .nullable()
      .describe('Scopes to request, separated by blanks; null: those that the server names'),
  })
  .meta({
    id: 'McpOAuthClient',
    examples: [{ client_id: 'agentrun', issuer: 'https://auth.example.com', scope: null }],
  })

// biome-ignore lint/suspicious/noTemplateCurlyInString: a reference of a configuration
const REFERENCES = '`${NAME}` is replaced by a secret that agents receive'
const fields = {
  command: text(1, limits.path_chars)
    .nullable()
    .describe(
      'Program of a server that runs in the sandbox of the run and speaks over its standard streams; null: it has a `url`',
    ),
  args: z
    .array(text(0, limits.mcp_argument_chars))
    .max(limits.mcp_arguments)
    .describe(`Arguments of the program. ${REFERENCES}`),
  environment: z
    .record(
      z.string().regex(VARIABLE, 'must be letters, digits and _, and not begin with a digit'),
      text(0, limits.mcp_argument_chars),
    )
    .refine(
      set => Object.keys(set).length <= limits.mcp_variables,
      `must not be more than ${limits.mcp_variables}`,
    )
    .meta({ wire_rules: { maxProperties: limits.mcp_variables } })
    .describe(`Variables of the program in addition to those of the sandbox. ${REFERENCES}`),
  url: url
    .nullable()
    .describe(
      'Address of a server with the transport Streamable HTTP, which the egress rules of the run must allow; null: it has a `command`',
    ),
  headers: z
    .record(header_name, header_value)
    .refine(
      set => Object.keys(set).length <= limits.mcp_headers,
      `must not be more than ${limits.mcp_headers}`,
    )
    .meta({ wire_rules: { maxProperties: limits.mcp_headers } })
    .describe(`Further headers of each request. They are not secret. ${REFERENCES}`),
  credential_header: header_name
    .nullable()
    .describe('Header whose value is the credential; null: `Authorization` with `Bearer` before it'),
  oauth: OAuthClient.nullable().describe(
    'Client of the grant `client_credentials`, whose secret is the credential; null: the credential itself is sent',
  ),
  sign_in: McpSignIn.nullable().describe(
    'A person signs in to the server in a browser, and runs act with that access; null: nobody signs in. With `client_id`, the credential is the secret of the client, if it has one',
  ),
  tools: z
    .array(text(1, 200))
    .max(limits.mcp_tools)
    .nullable()
    .describe('Names of the tools that agents get; null: all, up to a limit'),
  enabled: z.boolean().describe('Whether runs use it'),
  timeout_seconds: z
    .int()
    .min(1)
    .max(limits.mcp_seconds)
    .describe('Seconds that its start may take, at most 120, and each call of a tool'),
}

/** What is stored of a server; its credential is a secret. */
export const McpServerSettings = z.object({ ...fields, sign_in: fields.sign_in.default(null) })
export type McpServerSettings = z.output<typeof McpServerSettings>

const example = {
  name: 'tickets',
  repo_id: null,
  command: null,
  args: [],
  environment: {},
  url: 'https://tickets.example.com/mcp',
  headers: {},
  credential_header: null,
  oauth: null,
  sign_in: null,
  sign_in_state: null,
  has_credential: true,
  tools: ['search', 'comment'],
  enabled: true,
  timeout_seconds: 60,
  created_at: '2026-11-20T10:30:00.000Z',
  updated_at: '2026-11-20T10:30:00.000Z',
  updated_by: 1,
}

/** An MCP server, without its credential. */
export const McpServer = z
  .object({
    name: z.string().describe('The name, with which the names of its tools begin: `tickets__search`'),
    repo_id: z
      .int()
      .nullable()
      .describe('Repository whose runs use it; null: those of all repositories of the organization'),
    ...fields,
    has_credential: z.boolean().describe('Whether a credential is set'),
    sign_in_state: McpSignInState.nullable().describe('The sign-in; null: the server has none'),
    created_at: z.iso.datetime().describe('Time of its creation'),
    updated_at: z.iso.datetime().describe('Time of the last change'),
    updated_by: z.int().describe('The user who set it last'),
  })
  .meta({ id: 'McpServer', examples: [example] })
export const McpServerPage = pageOf(McpServer).meta({ id: 'PageOfMcpServer' })

export const McpServerInput = z
  .object({
    command: fields.command.optional(),
    args: fields.args.optional(),
    environment: fields.environment.optional(),
    url: fields.url.optional(),
    headers: fields.headers.optional(),
    credential_header: fields.credential_header.optional(),
    oauth: fields.oauth.optional(),
    sign_in: fields.sign_in.optional(),
    credential: z
      .string()
      .regex(/^[\x21-\x7e]{8,8192}$/, 'must be 8 to 8192 printable ASCII characters without blanks')
      .nullish()
      .describe(
        'Token, key or client secret, for a server with a `url`. It is never shown again; null removes it; absent: unchanged, if it goes to the same address',
      ),
    tools: fields.tools.optional(),
    enabled: fields.enabled.optional().describe('Whether runs use it, default true'),
    timeout_seconds: fields.timeout_seconds
      .optional()
      .describe(
        `Seconds that its start may take, at most 120, and each call of a tool; default ${DEFAULT_SECONDS}`,
      ),
  })
  .superRefine(
    (
      { command, url: address, args, environment, headers, credential_header, oauth, sign_in, credential },
      ctx,
    ) => {
      const issue = (field: string, message: string) =>
        ctx.addIssue({ code: 'custom', path: [field], message })
      if ((command == null) === (address == null))
        return issue('command', 'is required, or url: one of the two')
      const foreign =
        address == null ? { headers, credential_header, oauth, sign_in, credential } : { args, environment }
      for (const [field, value] of Object.entries(foreign))
        if (value != null && Object.keys(value).length > 0)
          issue(field, `needs ${address == null ? 'url' : 'command'}`)
      if (oauth != null && credential_header != null) issue('credential_header', 'cannot be set with oauth')
      if (sign_in == null) return
      if (oauth != null) issue('oauth', 'cannot be set with sign_in')
      if (credential_header != null) issue('credential_header', 'cannot be set with sign_in')
      if (sign_in.client_id !== null && sign_in.issuer === null)
        ctx.addIssue({ code: 'custom', path: ['sign_in', 'issuer'], message: 'is required with client_id' })
      if (sign_in.client_id === null && credential != null) issue('credential', 'needs sign_in.client_id')
      if (address?.includes('${')) issue('url', 'must not refer to a secret with sign_in')
    },
  )
  .meta({
    id: 'McpServerInput',
    examples: [
      {
        url: 'https://tickets.example.com/mcp',
        credential: 'token-of-tickets',
        tools: ['search', 'comment'],
      },
    ],
  })
export type McpServerInput = z.output<typeof McpServerInput>

/** Returns the settings with the defaults of what was not sent. */
export const mcpServerSettings = (input: McpServerInput): McpServerSettings => ({
  command: input.command ?? null,
  args: input.args ?? [],
  environment: input.environment ?? {},
  url: input.url ?? null,
  headers: input.headers ?? {},
  credential_header: input.credential_header ?? null,
  oauth: input.oauth ?? null,
  sign_in: input.sign_in ?? null,
  tools: input.tools ?? null,
  enabled: input.enabled ?? true,
  timeout_seconds: input.timeout_seconds ?? DEFAULT_SECONDS,
})
