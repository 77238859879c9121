import { roleScopes } from '../../core/access/permissions.ts'
import type { RepositoryBounds } from '../../core/access/repository-bounds.ts'
import { getMember } from '../../store/access/accounts.ts'
import type { Context, Services } from '../context.ts'

/**
 * Returns the context of a member for work without an HTTP request. Null when the user is no longer a member.
 * `repository_ids` limits the context.
 */
export async function memberContext(
  services: Services,
  {
    organization_id,
    user_id,
    repository_ids = null,
  }: { organization_id: number; user_id: number; repository_ids?: RepositoryBounds },
  request_id: string,
): Promise<Context | null> {
  const member = await getMember(services.db, organization_id, user_id)
  if (!member?.role) return null
  return {
    ...services,
    actor: {
      user_id,
      token_id: 0,
      kind: 'service',
      wire_profile: 'standard',
      token_organization_id: null,
      granted: null,
      repository_ids,
      expires_at: null,
      by_program: false,
    },
    organization_id,
    role: member.role,
    scopes: roleScopes[member.role],
    request_id,
    traceparent: null,
    windows: [],
    idempotency_key: null,
    run_head: null,
  }
}
