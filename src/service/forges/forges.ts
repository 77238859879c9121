import { createPrivateKey } from 'node:crypto'
import type {
  ForgeConnection,
  ForgeConnectionInput,
  ForgeKind,
  ListForgeRepositoriesQuery,
  MissingPermission,
} from '../../contract/repositories/forges.ts'
import { forgeUrl, repositoryOn } from '../../core/forges/forge-address.ts'
import { missingPermission } from '../../core/forges/forge-permissions.ts'
import {
  type ForgeSecrets,
  newWebhookSecret,
  openForgeSecrets,
  sealForgeSecrets,
} from '../../core/forges/forge-secrets.ts'
import { pageNumbers, pageWindow, partOf } from '../../core/paging.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import { shortError } from '../../core/text/truncate.ts'
import type { RemoteForge } from '../../forge/port.ts'
import { listRepositories } from '../../store/access/repositories.ts'
import { lockSecrets } from '../../store/access/secrets.ts'
import { deleteGaps, type ForgeGapRow } from '../../store/forges/forge-gaps.ts'
import { deleteForge, type ForgeRow, listForges, saveForge } from '../../store/forges/forges.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'
import { requireResult, resultOf } from '../pull-requests/forge-result.ts'

export const MAX_CONNECTIONS = 10
/** Repositories that are listed, there and here. */
const MAX_LISTED = 1_000

const reasons = {
  url: 'must be the address of a forge, with https:// and without a user name',
  path: 'must be the address of the forge itself, and of nothing below it',
  https: 'must begin with https://',
  private: 'address not allowed: private and loopback addresses must be allowed by the operator',
  unknown: 'the host has no address: check its spelling, and that the service can resolve it',
  forbidden: 'address not allowed: the host has an address that is private or reserved',
}

/**
 * Returns a connection as the API shows it. `gaps`: those of the organization; of them it shows what it lacks
 * permission for.
 */
export function forgeConnection(
  ctx: Pick<Context, 'base_url'>,
  row: ForgeRow,
  {
    webhook_secret = null,
    gaps = [],
  }: { webhook_secret?: string | null; gaps?: readonly ForgeGapRow[] } = {},
): ForgeConnection {
  const { id, kind, url, auth, login, app_id, app_slug, installation_id, problem } = row
  return {
    id,
    kind,
    url,
    auth,
    login,
    app_id,
    app_slug,
    installation_id,
    problem,
    missing_permissions: missingPermissions(row, gaps),
    active: problem === null,
    webhook_url: `${ctx.base_url}/hooks/${kind}/${id}`,
    webhook_secret,
    last_used_at: row.used_at?.toISOString() ?? null,
    updated_at: row.updated_at.toISOString(),
    updated_by: row.updated_by,
  }
}

/** By resource, with the repositories for which the forge refused it. */
function missingPermissions(row: ForgeRow, gaps: readonly ForgeGapRow[]): MissingPermission[] {
  const of_resource = Map.groupBy(
    gaps.filter(gap => gap.forge_id === row.id),
    gap => gap.resource,
  )
  return [...of_resource].map(([resource, some]) => ({
    resource,
    ...missingPermission(row, resource),
    detail: some[0]?.detail ?? '',
    repo_ids: some.map(gap => gap.repository_id),
  }))
}

/**
 * Creates or replaces the connection to the forge of that address. The credentials are checked with the
 * forge; their failure is stored and is not an error. 400 for an address that is not allowed, a new one whose
 * host has no address, and an invalid key; 409 for one connection too many; 503 when a new host could not be
 * resolved.
 */
export async function connectForge(
  ctx: Context,
  kind: ForgeKind,
  input: ForgeConnectionInput,
): Promise<ForgeConnection> {
  const url = requireForgeUrl(ctx, kind, input.url, 'body')
  const { app, token } = input
  if (app) requirePrivateKey(app.private_key)
  const before = (await listForges(ctx.db, ctx.organization_id)).find(row => row.url === url)
  if (before === undefined) await requireKnownHost(ctx, url)
  const kept = before === undefined ? null : openForgeSecrets(ctx.sealer, before)
  const generated = input.webhook_secret == null && kept === null ? newWebhookSecret() : null
  const webhook = input.webhook_secret ?? kept?.webhook ?? generated ?? ''
  const installation_id = app?.installation_id ?? null
  const credentials = app
    ? { app_id: app.app_id, private_key: app.private_key, installation_id }
    : { token: token ?? '' }
  const target = kind === 'gitea' ? { kind, url, token: token ?? '' } : { kind, url, credentials }
  const identity = await resultOf(ctx.forges.tryOut(ctx.organization_id, target).identity())
  const secrets: ForgeSecrets = app
    ? { private_key: app.private_key, webhook }
    : { token: token ?? '', webhook }
  return ctx.db.transaction(async tx => {
    await lockSecrets(tx, ctx.organization_id)
    const row = await saveForge(
      tx,
      {
        organization_id: ctx.organization_id,
        kind,
        url,
        auth: app ? 'app' : 'token',
        app_id: app?.app_id ?? null,
        installation_id,
        user_id: ctx.actor.user_id,
        ...(identity.ok
          ? { login: identity.value.login, app_slug: identity.value.app, problem: null }
          : { login: null, app_slug: null, problem: shortError(identity.error.message) }),
        secrets: sealForgeSecrets(ctx.sealer, ctx.organization_id, url, secrets),
      },
      MAX_CONNECTIONS,
    )
    if (!row) throw tooManyConnections()
    await deleteGaps(tx, ctx.organization_id, row.id)
    await audit(
      tx,
      ctx,
      'forge.connected',
      { type: 'forge', id: row.id },
      { kind, url, auth: row.auth, login: row.login, app_id: row.app_id },
    )
    return forgeConnection(ctx, row, { webhook_secret: generated })
  })
}

/** Finds a wrong name now, not in the first run that needs it. Other failures of a name server may pass. */
async function requireKnownHost(ctx: Context, url: string): Promise<void> {
  const found = await ctx.forges.lookUp(ctx.organization_id, url)
  if (found === 'unknown' || found === 'forbidden') throw invalid(['body', 'url'], reasons[found])
  if (found === 'unavailable')
    throw new ServiceError('unavailable', `${new URL(url).host} could not be resolved now: try again.`, {
      headers: { 'retry-after': '5' },
    })
}

/**
 * Returns the deleted connection, also when the operator no longer allows such an address. 404 when there is
 * none.
 */
export async function disconnectForge(
  ctx: Context,
  kind: ForgeKind,
  address: string,
): Promise<ForgeConnection> {
  const url = requireForgeUrl({ allow_private_forges: true }, kind, address, 'query')
  return ctx.db.transaction(async tx => {
    const row = await deleteForge(tx, ctx.organization_id, kind, url)
    if (!row) throw new ServiceError('not_found', `There is no connection to ${url}.`)
    await audit(tx, ctx, 'forge.disconnected', { type: 'forge', id: row.id }, { kind, url })
    return forgeConnection(ctx, row)
  })
}

/**
 * Returns one page of the repositories that the credentials can see, empty while the forge is not connected.
 * Throws 409 when it rejects the credentials, 503 while it is unavailable.
 */
export async function listForgeRepositories(
  ctx: Context,
  kind: ForgeKind,
  query: ListForgeRepositoriesQuery,
) {
  const url = requireForgeUrl(ctx, kind, query.url, 'query')
  const row = (await listForges(ctx.db, ctx.organization_id)).find(
    one => one.kind === kind && one.url === url,
  )
  const found =
    row === undefined
      ? []
      : await requireResult(opened(ctx, row).then(forge => forge.listRepositories(MAX_LISTED)))
  const { rows } = await listRepositories(
    ctx.db,
    ctx.organization_id,
    { skip: 0, limit: MAX_LISTED },
    { own: ctx.actor.repository_ids },
  )
  const registered = new Map(rows.map(row => [nameOf(url, row), row.id]))
  const all = found.map(item => ({ ...item, repo_id: registered.get(item.full_name.toLowerCase()) ?? null }))
  const window = pageWindow(query)
  return { items: partOf(all, window), total: all.length, ...pageNumbers(all.length, window) }
}

const nameOf = (forge_url: string, repository: Parameters<typeof repositoryOn>[1]) => {
  const on_forge = repositoryOn(forge_url, repository)
  return on_forge === null ? null : `${on_forge.owner}/${on_forge.name}`.toLowerCase()
}

const opened = async (ctx: Context, row: ForgeRow): Promise<RemoteForge> => ctx.forges.open(row)

export const tooManyConnections = () =>
  new ServiceError('conflict', `There are ${MAX_CONNECTIONS} connections already: end one first.`)

/** Returns the normalized address of a forge: GitHub has no path, others may. Throws 400 that names `url`. */
export function requireForgeUrl(
  ctx: Pick<Context, 'allow_private_forges'>,
  kind: ForgeKind,
  address: string,
  location: 'body' | 'query',
): string {
  const read = forgeUrl(address, { allow_private: ctx.allow_private_forges, path: kind !== 'github' })
  if (!read.ok) throw invalid([location, 'url'], reasons[read.reason])
  return read.url
}

function requirePrivateKey(pem: string): void {
  try {
    if (createPrivateKey(pem).asymmetricKeyType === 'rsa') return
  } catch {
    // Reported below: a text that is not a key, and a key of another kind.
  }
  throw invalid(['body', 'app', 'private_key'], 'must be an RSA private key, PEM')
}
