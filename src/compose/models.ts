import type { Config } from '../config.ts'
import type { ModelSettings } from '../contract/model-settings.ts'
import { modelKeyName } from '../core/secrets/model-keys.ts'
import { openSecrets } from '../core/secrets/run-secrets.ts'
import { outgoingStream } from '../egress/fetch.ts'
import { createModelCatalog, type ModelCatalogOptions } from '../model/catalog.ts'
import { type ModelCatalog, ModelError } from '../model/port.ts'
import type { TestedModel } from '../service/context.ts'
import { listOrganizationModels } from '../store/access/organization-models.ts'
import { listSealedSecrets } from '../store/access/secrets.ts'
import type { OrganizationModels } from '../worker/services.ts'
import type { Parts } from './parts.ts'
import { outgoingOf } from './webhooks.ts'

/** Organizations whose models a process keeps. */
const MAX_KNOWN = 1_000

/**
 * Returns the models of organizations: what the organization configured, before what the operator did. Each
 * call reads the tables, so that a change applies to all processes at once. Learned limits stay for the
 * process while the settings stay.
 */
export function organizationModels(parts: Pick<Parts, 'config' | 'sealer' | 'models'>): OrganizationModels {
  const { config, sealer, models } = parts
  const outgoing = outgoingOf(parts)
  const known = new Map<number, { text: string; catalog: ModelCatalog }>()
  return async (db, organization_id) => {
    const rows = await listOrganizationModels(db, organization_id)
    if (rows.length === 0) return models
    const { secrets } = openSecrets(
      sealer,
      organization_id,
      await listSealedSecrets(db, organization_id, null),
    )
    const entries = rows.map(({ id, settings }) => ({
      id,
      settings,
      api_key: secrets.find(({ name }) => name === modelKeyName(id))?.value,
    }))
    const text = JSON.stringify(entries)
    const before = known.get(organization_id)
    if (before?.text === text) return before.catalog
    const catalog = createModelCatalog({
      ...merged(optionsOf(config), entries, outgoingStream(outgoing(organization_id))),
    })
    if (known.size >= MAX_KNOWN) known.clear()
    known.set(organization_id, { text, catalog })
    return catalog
  }
}

const TEST_TIMEOUTS = { first_byte_ms: 15_000, idle_ms: 15_000, total_ms: 20_000 }

/** Asks a model for one word. Null: it has no key. */
export async function testModel(
  models: ModelCatalog,
  id: string,
  signal: AbortSignal,
): Promise<TestedModel | null> {
  const model = models.get(id)
  if (model === null) return null
  const started = performance.now()
  const ended = () => Math.round(performance.now() - started)
  try {
    const { usage } = await model.call({
      instructions: 'You answer with one word.',
      messages: [{ role: 'user', content: 'Answer: ok' }],
      tools: [],
      // Enough for models that always think.
      max_output_tokens: 2_000,
      reasoning_effort: 'low',
      timeouts: TEST_TIMEOUTS,
      signal,
    })
    return { latency_ms: ended(), error: null, cost_usd: usage.cost_usd }
  } catch (error) {
    if (!(error instanceof ModelError)) throw error
    const { code, message, http_status } = error
    return { latency_ms: ended(), error: { code, message, http_status }, cost_usd: null }
  }
}

type Entry = { id: string; settings: ModelSettings; api_key: string | undefined }

/** A key of the operator is never sent to an address that an organization chose. */
function merged(
  options: ModelCatalogOptions,
  entries: Entry[],
  checked: typeof globalThis.fetch,
): ModelCatalogOptions {
  const result: ModelCatalogOptions = { ...options, models: { ...options.models } }
  for (const { id, settings, api_key } of entries) {
    const { base_url } = settings
    const to = { ...(base_url !== undefined && { base_url, fetch: checked }) }
    const key = { ...(api_key !== undefined && { api_key }) }
    if (id.includes('/')) result.models = { ...result.models, [id]: { ...settings, ...to, ...key } }
    else if (id === 'openai-compatible' && base_url !== undefined)
      result.openai_compatible = { base_url, fetch: checked, ...key }
    else if ((id === 'anthropic' || id === 'openai' || id === 'google') && api_key !== undefined)
      result[id] = { api_key, ...to }
  }
  return result
}

/**
 * Returns the models that the configuration has keys or addresses for. Throws one line when the default or
 * the review model is not among them.
 */
export function modelsOf(config: Config): ModelCatalog {
  const models = createModelCatalog(optionsOf(config))
  requireConfigured(models, 'AGENTRUN_DEFAULT_MODEL', models.default_model)
  const review = config.AGENTRUN_REVIEW_MODEL
  if (review !== undefined) requireConfigured(models, 'AGENTRUN_REVIEW_MODEL', review)
  if (review !== undefined && models.get(review)?.scripted)
    throw new Error(`AGENTRUN_REVIEW_MODEL: ${review} plays scripts and reviews nothing`)
  return models
}

function optionsOf(config: Config): ModelCatalogOptions {
  const provider = (api_key: string | undefined, base_url: string | undefined) =>
    api_key === undefined ? undefined : { api_key, ...(base_url && { base_url }) }
  const anthropic = provider(config.ANTHROPIC_API_KEY, config.ANTHROPIC_BASE_URL)
  const openai = provider(config.OPENAI_API_KEY, config.OPENAI_BASE_URL)
  const google = provider(config.GOOGLE_GENERATIVE_AI_API_KEY, config.GOOGLE_GENERATIVE_AI_BASE_URL)
  const compatible = config.OPENAI_COMPATIBLE_BASE_URL
  return {
    default_model: config.AGENTRUN_DEFAULT_MODEL ?? null,
    ...(config.AGENTRUN_MODELS && { models: config.AGENTRUN_MODELS }),
    ...(anthropic && { anthropic }),
    ...(openai && { openai }),
    ...(google && { google }),
    ...(compatible && {
      openai_compatible: {
        base_url: compatible,
        ...(config.OPENAI_COMPATIBLE_API_KEY && { api_key: config.OPENAI_COMPATIBLE_API_KEY }),
      },
    }),
  }
}

function requireConfigured(models: ModelCatalog, variable: string, id: string): void {
  if (models.get(id) !== null) return
  const available = models.list().map(model => model.id)
  throw new Error(`${variable}: ${id} is not configured; available: ${available.join(', ')}`)
}
