import type { HealthCheck, OrganizationHealth } from '../../contract/organizations/organization-limits.ts'
import { checkCluster } from '../../core/cluster/cluster-checks.ts'
import {
  broken,
  checkModels,
  checkRepositories,
  checkWorkers,
  ok,
  warning,
} from '../../core/health-checks.ts'
import { openSecrets } from '../../core/secrets/run-secrets.ts'
import { getOrganization } from '../../store/access/organizations.ts'
import { listRepositories } from '../../store/access/repositories.ts'
import { listSealedSecrets } from '../../store/access/secrets.ts'
import { listProcesses } from '../../store/leases/processes.ts'
import { getWebhook } from '../../store/webhooks/webhooks.ts'
import type { Context } from '../context.ts'
import { getRepository } from '../repositories/repositories.ts'
import { workerState } from '../runs/worker-state.ts'
import { listIntegrations } from './integrations.ts'

/**
 * Checks what runs of the organization need. Expected faults are findings; throws only when the database does
 * not respond.
 */
export async function getOrganizationHealth(ctx: Context): Promise<OrganizationHealth> {
  const workers = await workerState(ctx.db)
  const checks = [
    ok('database', 'answers'),
    ...checkWorkers({ ...workers, processes: workers }),
    ...(await cluster(ctx)),
    await repositories(ctx),
    await models(ctx),
    await integrations(ctx),
    await secrets(ctx),
    await webhook(ctx),
  ]
  return { broken: checks.filter(({ state }) => state === 'broken').length, checks }
}

/**
 * Faults of the processes, without names of machines: an administrator of an organization need not operate
 * the service.
 */
async function cluster(ctx: Context): Promise<HealthCheck[]> {
  const checks = checkCluster(await listProcesses(ctx.db), ({ role }) => role)
  return checks.filter(({ check, state }) => check === 'processes' || state !== 'ok')
}

async function repositories(ctx: Context): Promise<HealthCheck> {
  const organization = await getOrganization(ctx.db, ctx.organization_id)
  const { rows, total } = await listRepositories(
    ctx.db,
    ctx.organization_id,
    { skip: 0, limit: 1 },
    { own: ctx.actor.repository_ids, archived: false },
  )
  const preferred = organization?.default_repository_id ?? null
  const chosen = preferred !== null ? await getRepository(ctx, preferred) : total === 1 ? rows[0] : undefined
  return checkRepositories(total, chosen)
}

async function models(ctx: Context): Promise<HealthCheck> {
  const organization = await getOrganization(ctx.db, ctx.organization_id)
  const known = await ctx.organizationModels(ctx.db, ctx.organization_id)
  const default_model = organization?.default_model ?? known.default_model
  if (known.get(default_model) === null)
    return broken(
      'models',
      `${default_model}, the default of the organization, cannot be called`,
      'choose another default model, or set the key of its provider',
    )
  const providers = [...new Set(known.list().map(({ provider }) => provider))]
  return checkModels(providers, default_model)
}

async function integrations(ctx: Context): Promise<HealthCheck> {
  const { integrations: all } = await listIntegrations(ctx)
  const failing = all
    .filter(({ active }) => !active)
    .map(({ integration_type, metadata }) => `${integration_type} ${metadata.url}`)
  if (failing.length > 0)
    return broken(
      'integrations',
      `${failing.join(', ')} does not work`,
      'see its status in the integrations, and connect it again',
    )
  const gaps = all
    .filter(({ metadata }) => metadata.missing_permissions.length > 0)
    .map(({ metadata }) => metadata.url)
  if (gaps.length > 0)
    return warning(
      'integrations',
      `${gaps.join(', ')}: permissions are missing`,
      'grant what the integration lists',
    )
  return ok('integrations', all.length === 0 ? 'none' : all.map(({ metadata }) => metadata.url).join(', '))
}

async function secrets(ctx: Context): Promise<HealthCheck> {
  const rows = await listSealedSecrets(ctx.db, ctx.organization_id, null)
  const { unreadable } = openSecrets(ctx.sealer, ctx.organization_id, rows)
  if (unreadable.length === 0) return ok('secrets', `${rows.length}`)
  return broken(
    'secrets',
    `${unreadable.join(', ')} cannot be opened: sealed with another key of the service`,
    'set them again, or give the service its previous key',
  )
}

async function webhook(ctx: Context): Promise<HealthCheck> {
  const row = await getWebhook(ctx.db, ctx.organization_id)
  if (!row) return ok('webhook', 'none')
  return row.enabled
    ? ok('webhook', row.url)
    : warning('webhook', `${row.url} is switched off`, 'switch it on or delete it')
}
