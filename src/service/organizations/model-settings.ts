import { limits } from '../../contract/limits.ts'
import { type ModelProvider, model_providers } from '../../contract/model-settings.ts'
import type {
  ModelDetail,
  ModelInput,
  ModelSettingsList,
  ModelTest,
  ProviderDetail,
  ProviderInput,
} from '../../contract/organizations/models.ts'
import { modelKeyName } from '../../core/secrets/model-keys.ts'
import { invalid, ServiceError } from '../../core/service-error.ts'
import {
  deleteOrganizationModel,
  listOrganizationModels,
  type OrganizationModelRow,
  saveOrganizationModel,
} from '../../store/access/organization-models.ts'
import { getOrganization } from '../../store/access/organizations.ts'
import { deleteSecret, listSealedSecrets, lockSecrets } from '../../store/access/secrets.ts'
import type { Db } from '../../store/database.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'
import { saveServiceSecret } from './service-secret.ts'

/** Keys are secrets of the organization, which has at most 100 others. */
const MAX_SECRETS = 200

type Settings = Omit<ModelInput, 'id' | 'api_key'>

/**
 * Returns all models and providers of the organization, with those of the operator (specification.md#access).
 */
export async function getModelSettings(ctx: Context, db: Db = ctx.db): Promise<ModelSettingsList> {
  const { organization_id } = ctx
  const models = await ctx.organizationModels(db, organization_id)
  const organization = await getOrganization(db, organization_id)
  const rows = new Map((await listOrganizationModels(db, organization_id)).map(row => [row.id, row]))
  const keys = new Set((await listSealedSecrets(db, organization_id, null)).map(({ name }) => name))
  return {
    default_model: organization?.default_model ?? models.default_model,
    providers: model_providers.map(provider =>
      providerDetail(provider, rows.get(provider), models.has_provider(provider)),
    ),
    models: models.describe().map(model => {
      const row = rows.get(model.id)
      const { api = null, base_url = null, name = null, cache_marks = false } = row?.settings ?? {}
      return {
        ...model,
        source: row ? 'organization' : 'service',
        api,
        base_url,
        name,
        cache_marks,
        has_key: row !== undefined && keys.has(modelKeyName(model.id)),
        ...changeOf(row),
      }
    }),
  }
}

const changeOf = (row: OrganizationModelRow | undefined) => ({
  updated_at: row?.updated_at.toISOString() ?? null,
  updated_by: row?.updated_by ?? null,
})

function providerDetail(
  provider: ModelProvider,
  row: OrganizationModelRow | undefined,
  has_key: boolean,
): ProviderDetail {
  const { base_url = null } = row?.settings ?? {}
  return { provider, source: row ? 'organization' : has_key ? 'service' : null, base_url, ...changeOf(row) }
}

/**
 * Sets key and address of a provider for the runs of this organization. Throws 400 without a key or with a
 * private address, 409 when there are too many entries.
 */
export async function setModelProvider(
  ctx: Context,
  provider: ModelProvider,
  { api_key, base_url }: ProviderInput,
): Promise<ProviderDetail> {
  const compatible = provider === 'openai-compatible'
  if (compatible && base_url === undefined)
    throw invalid(['body', 'base_url'], 'is required: this provider has no address of its own')
  if (!compatible && api_key === undefined) throw invalid(['body', 'api_key'], 'is required')
  await requirePublic(ctx, base_url)
  return ctx.db.transaction(async tx => {
    const row = await save(tx, ctx, provider, { base_url }, api_key ?? null)
    await audit(
      tx,
      ctx,
      'model_provider.set',
      { type: 'model', id: provider },
      { base_url: base_url ?? null, has_key: api_key !== undefined },
    )
    return providerDetail(provider, row, true)
  })
}

/** Removes what the organization set. Throws 404 when it set nothing. */
export async function deleteModelProvider(ctx: Context, provider: ModelProvider): Promise<ProviderDetail> {
  return ctx.db.transaction(async tx => {
    await remove(tx, ctx, provider)
    await audit(tx, ctx, 'model_provider.deleted', { type: 'model', id: provider })
    const models = await ctx.organizationModels(tx, ctx.organization_id)
    return providerDetail(provider, undefined, models.has_provider(provider))
  })
}

/**
 * Adds a model, or replaces what the organization set of one. Throws 400 for a private address, and when a
 * new address would get the key that was set for another one; 409 when there are too many entries.
 */
export async function setModel(ctx: Context, { id, api_key, ...settings }: ModelInput): Promise<ModelDetail> {
  await requirePublic(ctx, settings.base_url)
  return ctx.db.transaction(async tx => {
    const before = (await listOrganizationModels(tx, ctx.organization_id)).find(row => row.id === id)
    const key = settings.api === undefined ? null : api_key
    if (key === undefined && before && before.settings.base_url !== settings.base_url)
      throw invalid(
        ['body', 'api_key'],
        'is required with another base_url, or null: the key was set for the previous address',
      )
    await save(tx, ctx, id, settings, key)
    await audit(
      tx,
      ctx,
      'model.set',
      { type: 'model', id },
      { ...settings, api_key: api_key === undefined ? 'unchanged' : api_key === null ? null : 'set' },
    )
    const saved = (await getModelSettings(ctx, tx)).models.find(model => model.id === id)
    if (!saved) throw new Error(`the model ${id} was saved and is not listed`)
    return saved
  })
}

/** Removes what the organization set of a model. Throws 404 when it set nothing. */
export async function deleteModel(ctx: Context, id: string): Promise<ModelSettingsList> {
  return ctx.db.transaction(async tx => {
    if (!id.includes('/')) throw notFound()
    await remove(tx, ctx, id)
    await audit(tx, ctx, 'model.deleted', { type: 'model', id })
    return getModelSettings(ctx, tx)
  })
}

/** Calls a model once, with its own key and address. Throws 400 for a model that is unknown or has no key. */
export async function testModel(ctx: Context, model: string): Promise<ModelTest> {
  const refusal = () =>
    invalid(['body', 'model'], 'is not configured: it is unknown, or its provider has no key')
  const models = await ctx.organizationModels(ctx.db, ctx.organization_id)
  if (models.get(model) === null) throw refusal()
  await audit(ctx.db, ctx, 'model.tested', { type: 'model', id: model })
  const tested = await ctx.testModel(ctx.organization_id, model)
  if (tested === null) throw refusal()
  return { model, ok: tested.error === null, ...tested }
}

const notFound = () => new ServiceError('not_found', 'The organization has not set this.')

/** `api_key`: null removes it, undefined leaves it. */
async function save(
  tx: Db,
  ctx: Context,
  id: string,
  settings: Settings,
  api_key: string | null | undefined,
): Promise<OrganizationModelRow> {
  const { organization_id, actor } = ctx
  await lockSecrets(tx, organization_id)
  const rows = await listOrganizationModels(tx, organization_id)
  if (rows.length >= limits.models && !rows.some(row => row.id === id))
    throw new ServiceError(
      'conflict',
      `There are already ${limits.models} models and providers: remove one first.`,
    )
  if (api_key !== undefined) {
    const secret = { repository_id: null, name: modelKeyName(id), value: api_key }
    await saveServiceSecret(tx, ctx, secret, MAX_SECRETS)
  }
  return saveOrganizationModel(tx, organization_id, { id, settings, user_id: actor.user_id })
}

async function remove(tx: Db, ctx: Context, id: string): Promise<void> {
  if (!(await deleteOrganizationModel(tx, ctx.organization_id, id))) throw notFound()
  await deleteSecret(tx, ctx.organization_id, null, modelKeyName(id))
}

async function requirePublic(ctx: Context, base_url: string | undefined): Promise<void> {
  if (base_url === undefined || (await ctx.lookUpHost(ctx.organization_id, base_url)) !== 'forbidden') return
  throw invalid(
    ['body', 'base_url'],
    'is not a public address: the operator can permit private ones (AGENTRUN_ALLOW_PRIVATE_EGRESS)',
  )
}
