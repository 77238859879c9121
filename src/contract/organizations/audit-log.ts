import { z } from 'zod'
import { id, moment } from '../decimal.ts'
import { pageOf, pageQuery } from '../page.ts'
import { several } from '../several.ts'
import { text } from '../text.ts'
import { audit_actions } from './audit-actions.ts'

export const AuditEntry = z
  .object({
    id: z.int().describe('The entry; later ones have larger numbers'),
    organization_id: z.int().describe('The organization'),
    created_at: z.iso.datetime().describe('Time of the action'),
    user_id: z
      .int()
      .nullable()
      .describe(
        'The user; null: the operator, by a local command, or the service itself, by its configuration',
      ),
    token_id: z.int().nullable().describe('The token of the request'),
    action: z.string().describe('The action: a noun and a verb, for example `token.revoked`'),
    target_type: z.string().describe('The kind of the target'),
    target_id: z.string().nullable().describe('Id of the target'),
    detail: z.record(z.string(), z.unknown()).describe('The change; never contains a secret'),
    request_id: z.string().nullable().describe('`X-Request-Id` of the request'),
  })
  .meta({
    id: 'AuditEntry',
    examples: [
      {
        id: 41,
        organization_id: 1,
        created_at: '2026-11-20T10:30:00.000Z',
        user_id: 1,
        token_id: 7,
        action: 'member.updated',
        target_type: 'member',
        target_id: '2',
        detail: { role: { from: 'MEMBER', to: 'MANAGER' } },
        request_id: '0197a1c2-5d3e-7c41-9b1a-2f6f0c8e4d10',
      },
    ],
  })
export type AuditEntry = z.output<typeof AuditEntry>
export const AuditPage = pageOf(AuditEntry).meta({ id: 'PageOfAuditEntry' })

export const AuditQuery = z.object({
  ...pageQuery,
  action: several(text(1, 100)).describe(
    `Only entries with one of these actions: ${audit_actions.join(', ')}`,
  ),
  user_id: several(id()).describe('Actions of one of these users'),
  target_type: several(text(1, 100)).describe('Actions on one of these kinds of targets'),
  created_after: moment().optional().describe('Later than this time'),
  created_before: moment().optional().describe('Earlier than this time'),
})
export type AuditQuery = z.output<typeof AuditQuery>
