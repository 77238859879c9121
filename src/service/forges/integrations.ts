import type { Scope } from '../../contract/endpoint.ts'
import { ServiceError } from '../../core/service-error.ts'
import { getMember } from '../../store/access/accounts.ts'
import { getOrganization } from '../../store/access/organizations.ts'
import { listGaps } from '../../store/forges/forge-gaps.ts'
import { listForges } from '../../store/forges/forges.ts'
import { requireMembership, requireScope } from '../access/authenticate.ts'
import type { ActorContext, Context } from '../context.ts'
import { forgeConnection } from './forges.ts'

/**
 * Returns the outside services that the organization is connected to, with what their permissions lack for
 * the caller's repositories.
 */
export async function listIntegrations(ctx: Context) {
  const organization = await getOrganization(ctx.db, ctx.organization_id)
  const { repository_ids } = ctx.actor
  const all = await listGaps(ctx.db, ctx.organization_id)
  const gaps = all.filter(gap => repository_ids === null || repository_ids.includes(gap.repository_id))
  const integrations = (await listForges(ctx.db, ctx.organization_id)).map(row => {
    const { webhook_secret: _secret, installation_id, ...metadata } = forgeConnection(ctx, row, { gaps })
    return { integration_type: row.kind, active: metadata.active, token_id: null, installation_id, metadata }
  })
  return {
    organization_id: ctx.organization_id,
    organization_name: organization?.name ?? '',
    integrations,
    total_active_integrations: integrations.filter(({ active }) => active).length,
  }
}

/**
 * Returns the providers that the caller has connected to the organization of the query: none, because none
 * can be. Throws 403 without membership.
 */
export async function listConnections(ctx: ActorContext, organization_id: number): Promise<string[]> {
  await requireAccess(ctx, organization_id, 'org:read')
  return []
}

/** Throws 404: no provider can be connected yet. */
export async function revokeConnection(
  ctx: ActorContext,
  organization_id: number,
  provider: string,
): Promise<never> {
  await requireAccess(ctx, organization_id, 'runs:write')
  throw new ServiceError('not_found', `There is no connection to ${JSON.stringify(provider)}.`)
}

export async function generateSlackToken(ctx: ActorContext, organization_id: number): Promise<never> {
  await requireAccess(ctx, organization_id, 'runs:write')
  throw new ServiceError('not_available', 'Slack cannot be connected in this version.')
}

/** For operations whose path names no organization. 403, in the words of those whose path does. */
async function requireAccess(
  { db, actor }: ActorContext,
  organization_id: number,
  scope: Scope,
): Promise<void> {
  const elsewhere = actor.token_organization_id !== null && actor.token_organization_id !== organization_id
  const member = elsewhere ? undefined : await getMember(db, organization_id, actor.user_id)
  requireScope(actor, requireMembership(member?.role ?? null), scope)
}
