import type { ModelProvider } from '../contract/model-settings.ts'
import { SCRIPTED_MODEL_ID } from '../core/runs/playbook.ts'
import { describeModel } from './described-model.ts'
import type { LearnedModels } from './learned-limits.ts'
import { KNOWN_MODELS } from './model-prices.ts'
import type { Model, ModelCatalog } from './port.ts'
import { connectModel, type ProviderOptions } from './providers.ts'
import { createScriptedModel } from './scripted.ts'

/** `default_model` is `provider/model`; null chooses one. */
export type ModelCatalogOptions = ProviderOptions & { default_model: string | null }

/** The default without a configured one: a current model of the first provider with a key. */
const DEFAULTS = [
  ['anthropic', 'anthropic/claude-sonnet-5-5'],
  ['openai', 'openai/gpt-6.1-sol'],
  ['google', 'google/gemini-3.8-flash'],
] as const

/**
 * Creates the models of the service from its configuration, without the environment. The caller rejects a
 * configured default that is not available.
 */
export function createModelCatalog(options: ModelCatalogOptions): ModelCatalog {
  const scripted = createScriptedModel()
  const learned: LearnedModels = new Map()
  const chosen = DEFAULTS.find(([provider]) => options[provider])
  const default_model = options.default_model ?? chosen?.[1] ?? SCRIPTED_MODEL_ID
  const get = (id: string): Model | null => {
    return id === SCRIPTED_MODEL_ID ? scripted : connectModel(options, learned, id)
  }
  const ids = new Set([...Object.keys(options.models ?? {}), ...KNOWN_MODELS.map(({ id }) => id)])
  const known = [...ids]
    .filter(id => get(id) !== null)
    .map(id => ({ ...named(id), label: describeModel(id, options.models?.[id]).label }))
  const own =
    known.some(({ id }) => id === default_model) || default_model === SCRIPTED_MODEL_ID || !get(default_model)
      ? []
      : [named(default_model)]
  const open = options.openai_compatible
    ? [{ ...named('openai-compatible/'), label: 'Any model of the OpenAI-compatible server' }]
    : []
  const played = {
    id: SCRIPTED_MODEL_ID,
    label: 'Scripted playbook (no language model)',
    provider: 'scripted',
    scripted: true,
  }
  const has_provider = (provider: ModelProvider) =>
    (provider === 'openai-compatible' ? options.openai_compatible : options[provider]) !== undefined
  const describe = () =>
    [...ids].map(id => {
      const { label, pricing, cache_marks: _, ...facts } = describeModel(id, options.models?.[id])
      const { scripted: _scripted, ...names } = named(id)
      return { ...names, ...facts, label, price: pricing?.price ?? null, usable: get(id) !== null }
    })
  return { default_model, get, list: () => [...own, ...known, ...open, played], describe, has_provider }
}

function named(id: string): ReturnType<ModelCatalog['list']>[number] {
  const [provider = '', ...name] = id.split('/')
  return { id, label: name.join('/'), provider, scripted: false }
}
