import type { AuditAction } from '../../contract/organizations/audit-actions.ts'
import { insertAuditEntry } from '../../store/access/audit.ts'
import type { Db } from '../../store/database.ts'
import type { Context } from '../context.ts'

type Target = {
  type:
    | 'organization'
    | 'member'
    | 'invitation'
    | 'user'
    | 'token'
    | 'repository'
    | 'run'
    | 'pull_request'
    | 'secret'
    | 'webhook'
    | 'forge'
    | 'model'
    | 'skill'
    | 'mcp_server'
  id: number | string | null
}

/**
 * Records an administrative act (specification.md#access), in the transaction of the act. `action` is
 * `noun.verb` in the past: `token.revoked`. `detail` describes the change and contains no secret.
 */
export async function audit(
  tx: Db,
  ctx: {
    organization_id: number
    actor: Pick<Context['actor'], 'user_id' | 'token_id'>
    request_id: string | null
  },
  action: AuditAction,
  target: Target,
  detail: Record<string, unknown> = {},
): Promise<void> {
  await insertAuditEntry(tx, {
    organization_id: ctx.organization_id,
    user_id: ctx.actor.user_id,
    token_id: ctx.actor.token_id,
    action,
    target_type: target.type,
    target_id: target.id === null ? null : String(target.id),
    detail,
    request_id: ctx.request_id,
  })
}
