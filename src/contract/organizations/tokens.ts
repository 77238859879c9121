import { z } from 'zod'
import { moment } from '../decimal.ts'
import { scopes } from '../endpoint.ts'
import { limits } from '../limits.ts'
import { pageOf } from '../page.ts'
import { text } from '../text.ts'

const Scope = z.enum(scopes)
/**
 * The wording of a token's responses: that of this service, or of the public API, for its published clients
 * (specification.md#wire-profiles).
 */
export const WireProfile = z.enum(['standard', 'codegen'])
export type WireProfile = z.infer<typeof WireProfile>
const time = z.iso.datetime()

const fields = {
  id: z.int().describe('The token'),
  name: z.string().describe('Its purpose'),
  kind: z.enum(['personal', 'service']).describe("`service`: a service user's"),
  prefix: z.string().describe('Its first characters; empty for one that the operator chose'),
  hint: z.string().describe('Its last four characters'),
  scopes: z
    .array(Scope)
    .nullable()
    .describe('Its scopes, limited by the role of its user; null: all scopes of that role'),
  repository_ids: z
    .array(z.int())
    .nullable()
    .describe('The only repositories that it is valid for; null: all'),
  wire_profile: WireProfile.describe('The format of responses: `codegen` for clients of the Codegen API'),
  organization_id: z
    .int()
    .nullable()
    .describe('The only organization that it is valid for; null: all of its user'),
  user_id: z.int().describe('The user that it acts for'),
  created_by: z
    .int()
    .nullable()
    .describe('The user who created it; null: the first start of the service, or the operator'),
  created_at: time.describe('Time of its creation'),
  expires_at: time.nullable().describe('Time at which it expires; null: never'),
  last_used_at: time.nullable().describe('Last use, to the minute'),
  revoked_at: time.nullable().describe('Time at which it was revoked'),
  oauth_client: z
    .string()
    .nullable()
    .describe(
      'Program that signed its user in by OAuth, by its own name for itself; null: created by a person',
    ),
}

const example = {
  id: 7,
  name: 'nightly build',
  kind: 'personal',
  prefix: 'arun_p_',
  hint: 'x3Kd',
  scopes: ['runs:read', 'runs:write'],
  repository_ids: null,
  wire_profile: 'standard',
  organization_id: 1,
  user_id: 1,
  created_by: 1,
  created_at: '2026-11-20T10:30:00.000Z',
  expires_at: '2027-02-18T10:30:00.000Z',
  last_used_at: null,
  revoked_at: null,
  oauth_client: null,
}

/** The visible fields of a token: never its secret. */
export const Token = z.object(fields).meta({ id: 'Token', examples: [example] })
export type Token = z.output<typeof Token>

export const CreatedToken = z
  .object({ ...fields, token: z.string().describe('The token itself, shown only now') })
  .meta({ id: 'CreatedToken', examples: [{ ...example, token: `arun_p_${'0'.repeat(34)}x3Kd` }] })

export const TokenPage = pageOf(Token).meta({ id: 'PageOfToken' })

export const CreateTokenInput = z
  .object({
    name: text(1, limits.name_chars, { trim: true }).describe('Its purpose'),
    scopes: z
      .array(Scope)
      .min(1, 'must name a scope, or be left out')
      .max(scopes.length)
      .nullish()
      .describe('Its scopes; absent: those that both your token and the role of its user have'),
    repository_ids: z
      .array(z.int().min(0))
      .min(1, 'must name a repository, or be left out')
      .max(limits.token_repositories)
      .nullish()
      .describe('The only repositories that it is valid for. Absent: those of your token'),
    expires_in_seconds: z.int().min(1).max(limits.token_seconds).nullish().describe('Its lifetime'),
    expires_at: moment()
      .nullish()
      .describe(
        'Or an absolute time. With neither it expires with your token, or never if that does not expire or is one of the web interface',
      ),
    wire_profile: WireProfile.nullish().describe('Default `standard`'),
    user_id: z
      .int()
      .min(0)
      .nullish()
      .describe('Another member, or a service user, that it acts for: requires the scope `org:admin`'),
  })
  .meta({
    id: 'CreateTokenInput',
    examples: [{ name: 'nightly build', scopes: ['runs:read', 'runs:write'], expires_in_seconds: 7_776_000 }],
  })
export type CreateTokenInput = z.output<typeof CreateTokenInput>
