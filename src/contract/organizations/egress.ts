import { z } from 'zod'
import { limits } from '../limits.ts'
import { egress_presets } from './egress-presets.ts'

const egress_methods = ['GET', 'HEAD', 'POST', 'PUT', 'PATCH', 'DELETE', 'OPTIONS', 'CONNECT'] as const

const LABEL = '[a-z0-9_](?:[a-z0-9_-]{0,61}[a-z0-9_])?'
// The last label begins with a letter: some programs read a number there as an address.
const TOP = '[a-z](?:[a-z0-9-]{0,61}[a-z0-9])?'
const HOST = new RegExp(`^(?:\\*\\.${LABEL}\\.)?(?:${LABEL}\\.)*${TOP}$`)

/** Anybody can register a name below these hosts: allowing all names below one would allow everything. */
const SHARED =
  /^\*\.(?:(?:s3\.)?amazonaws\.com|cloudfront\.net|fastly\.net|azureedge\.net|azurewebsites\.net|windows\.net|github\.io|githubusercontent\.com|gitlab\.io|herokuapp\.com|vercel\.app|netlify\.app|pages\.dev|workers\.dev|appspot\.com|run\.app|web\.app|ngrok\.io|ngrok\.app|trycloudflare\.com|akamaized\.net|edgekey\.net|(?:co|com|org|net|ac|gov)\.[a-z]{2})$/

export const EgressRule = z
  .object({
    host: z
      .string()
      .max(253, { abort: true })
      .regex(
        HOST,
        'must be a host name in lower case, or *. and one of two labels or more for all names below it',
      )
      .refine(host => !SHARED.test(host), 'must not be all names below a host where anybody can have one')
      .describe(
        'A host name, or `*.example.com` for all names below `example.com`, without `example.com` itself',
      ),
    port: z.int().min(1).max(65_535).nullish().describe('The port; null or absent: 443 and 80'),
    methods: z
      .array(z.enum(egress_methods))
      .min(1)
      .max(egress_methods.length)
      .nullish()
      .describe(
        'Methods of plain HTTP; null or absent: all. `CONNECT` is a tunnel, as https uses it, whose methods are not visible: a list without `CONNECT` allows no tunnel',
      ),
  })
  .meta({ id: 'EgressRule', examples: [{ host: 'registry.example.com', port: 443, methods: null }] })
export type EgressRule = z.output<typeof EgressRule>

const mode = z.enum(['off', 'allowlist'])
const list = {
  allow: z.array(EgressRule).max(limits.egress_rules).describe('Allowed destinations'),
  presets: z
    .array(z.enum(egress_presets))
    .max(egress_presets.length)
    .describe('Names of allowed package registries'),
}
const whose = 'Network access of commands of the agent'

const AgentEgress = z.object({
  mode: mode
    .nullable()
    .describe(
      '`off`: no network access; attempts are refused and recorded in the trace. `allowlist`: allowed hosts, through a proxy. Null for a repository: as its organization; for an organization: off, unless the operator has set mirrors of registries',
    ),
  ...list,
})
const setup_mode = z.enum(['off', 'allowlist', 'open'])
const setup_whose = 'Network access of the setup commands of a repository'
const setup_modes =
  '`open`: every public host. `allowlist`: the rules of `agent`, regardless of its mode. `off`: nothing. Null for a repository: as its organization; for an organization: `open`'

export const Egress = z
  .object({
    agent: AgentEgress.describe(whose),
    setup: z.object({ mode: setup_mode.nullable().describe(setup_modes) }).describe(setup_whose),
  })
  .meta({
    id: 'Egress',
    examples: [
      {
        agent: { mode: 'allowlist', allow: [{ host: 'docs.example.com' }], presets: ['npm', 'pypi'] },
        setup: { mode: 'allowlist' },
      },
    ],
  })

const agent_input = z.object({
  mode: mode.nullish().describe('Absent or null: the setting of the organization, or of the service'),
  allow: list.allow.optional().describe('The complete list of rules: other rules are removed'),
  presets: list.presets.optional().describe('Names of all allowed package registries'),
})
export const EgressInput = z
  .object({
    agent: agent_input.describe(whose),
    setup: z
      .object({ mode: setup_mode.nullish().describe(setup_modes) })
      .optional()
      .describe(setup_whose),
  })
  .meta({ id: 'EgressRequest', examples: [{ agent: { mode: 'allowlist', presets: ['npm'] } }] })
export type EgressInput = z.output<typeof EgressInput>
