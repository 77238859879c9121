import { organizationOfState } from '../../contract/organizations/sign-in-state.ts'
import type { AppManifestInput, AppResponse } from '../../contract/repositories/forges.ts'
import { appManifest, manifestUrl } from '../../core/forges/app-manifest.ts'
import { type ForgeSecrets, newWebhookSecret, sealForgeSecrets } from '../../core/forges/forge-secrets.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import { ServiceError } from '../../core/service-error.ts'
import { lockSecrets } from '../../store/access/secrets.ts'
import { deleteGaps } from '../../store/forges/forge-gaps.ts'
import { listForges, nextForgeId, saveForge } from '../../store/forges/forges.ts'
import { audit } from '../access/audit.ts'
import type { Context, Services } from '../context.ts'
import { requireResult } from '../pull-requests/forge-result.ts'
import { MAX_CONNECTIONS, requireForgeUrl, tooManyConnections } from './forges.ts'

/** As long as GitHub's code is valid. */
const STATE_MS = 3_600_000

/**
 * The state of a started registration, sealed, so that only one of ours is accepted. Short, because it is
 * part of a URL.
 */
type State = {
  user_id: number
  url: string
  connection_id: number
  owner: string | null
  name: string
  at: number
}
const packed = ({ user_id, url, connection_id, owner, name, at }: State) => [
  user_id,
  url,
  connection_id,
  owner,
  name,
  at,
]
function unpacked(text: string): State {
  const [user_id, url, connection_id, owner, name, at] =
    storedJson<[number, string, number, string | null, string, number]>(text)
  return { user_id, url, connection_id, owner, name, at }
}
const sealContext = (organization_id: number) => ({ organization_id, scope: 'app manifest', name: 'state' })

/**
 * Starts the registration of a GitHub App. Returns the page of ours that sends the person to GitHub, which
 * sends them back with the app.
 */
export async function startAppManifest(ctx: Context, input: AppManifestInput) {
  const url = requireForgeUrl(ctx, 'github', input.url, 'body')
  const before = (await listForges(ctx.db, ctx.organization_id)).find(row => row.url === url)
  const connection_id = before?.id ?? (await nextForgeId(ctx.db))
  const { user_id } = ctx.actor
  const state: State = {
    user_id,
    url,
    connection_id,
    owner: input.owner ?? null,
    name: input.name,
    at: Date.now(),
  }
  await audit(
    ctx.db,
    ctx,
    'forge.app_begun',
    { type: 'forge', id: state.connection_id },
    { url, owner: state.owner, name: state.name },
  )
  const { key_id, sealed } = ctx.sealer.seal(sealContext(ctx.organization_id), JSON.stringify(packed(state)))
  const text = `${ctx.organization_id}.${key_id}.${sealed.toString('base64url')}`
  return {
    open_url: `${ctx.base_url}/hooks/github-app/manifest?state=${encodeURIComponent(text)}`,
    expires_at: new Date(state.at + STATE_MS).toISOString(),
  }
}

/**
 * Returns the form that the page sends to GitHub. Throws 401 for a state that this service did not sign, or
 * that is too old.
 */
export function manifestForm(services: Pick<Services, 'sealer' | 'base_url'>, text: string) {
  const read = readState(services, organizationOfState(text), text)
  if (read === null) throw new ServiceError('unauthorized', STALE)
  const { url, owner, name, connection_id } = read
  const manifest = appManifest({ name, base_url: services.base_url, connection_id })
  return { origin: url, action: manifestUrl(url, owner, text), manifest: JSON.stringify(manifest) }
}

/**
 * Returns the app that was begun, for the person who is about to connect it. Throws 404 as
 * `finishAppManifest`.
 */
export async function getAppManifest(ctx: Context, text: string) {
  const { url, owner, name, user_id, at } = await requireState(ctx, text)
  return { url, owner, name, started_by: user_id, expires_at: new Date(at + STATE_MS).toISOString() }
}

/**
 * Connects the app that GitHub created, for a person who may connect forges, by the code that GitHub gave
 * them: its secrets come from GitHub directly. Throws 404 for a state that is not of the organization, too
 * old or used; 409 and 503 with GitHub's message.
 */
export async function finishAppManifest(ctx: Context, { state: text, code }: AppResponse) {
  const state = await requireState(ctx, text)
  const { db, sealer, organization_id, actor } = ctx
  const app = await requireResult(ctx.forges.convertManifest(organization_id, state.url, code))
  const secrets: ForgeSecrets = {
    private_key: app.private_key,
    webhook: app.webhook_secret ?? newWebhookSecret(),
  }
  await db.transaction(async tx => {
    await lockSecrets(tx, organization_id)
    const row = await saveForge(
      tx,
      {
        id: state.connection_id,
        organization_id,
        kind: 'github',
        url: state.url,
        auth: 'app',
        app_id: app.app_id,
        app_slug: app.slug,
        installation_id: null,
        login: `${app.slug}[bot]`,
        problem: null,
        user_id: actor.user_id,
        secrets: sealForgeSecrets(sealer, organization_id, state.url, secrets),
      },
      MAX_CONNECTIONS,
    )
    if (!row) throw tooManyConnections()
    await deleteGaps(tx, organization_id, row.id)
    const detail = { url: state.url, auth: 'app', app_id: app.app_id, started_by: state.user_id }
    await audit(tx, ctx, 'forge.connected', { type: 'forge', id: row.id }, detail)
  })
  return { name: app.slug, install_url: `${app.html_url}/installations/new` }
}

const STALE = 'This link is not of this organization, too old, or used already: begin again.'

async function requireState(ctx: Context, text: string): Promise<State> {
  const state = readState(ctx, ctx.organization_id, text)
  const before = (await listForges(ctx.db, ctx.organization_id)).find(row => row.url === state?.url)
  if (state === null || (before && before.updated_at.getTime() >= state.at))
    throw new ServiceError('not_found', STALE)
  return state
}

/** Returns the state that this service sealed for the organization; null: it did not, or it is too old. */
function readState(
  { sealer }: Pick<Services, 'sealer'>,
  organization_id: number | null,
  text: string,
): State | null {
  const [, key_id = '', sealed = ''] = /^\d{1,15}\.([0-9a-f]{1,64})\.([\w-]{1,480})$/.exec(text) ?? []
  if (organization_id === null || organizationOfState(text) !== organization_id) return null
  const state = opened(() =>
    unpacked(sealer.open(sealContext(organization_id), { key_id, sealed: Buffer.from(sealed, 'base64url') })),
  )
  return state === null || Date.now() > state.at + STATE_MS ? null : state
}

function opened<T>(work: () => T): T | null {
  try {
    return work()
  } catch {
    return null
  }
}
