import type { Config } from '../config.ts'
import { createModelCatalog } from '../model/catalog.ts'
import type { ModelCatalog } from '../model/port.ts'

/** The models that the configuration has keys or addresses for. Throws one line when the default is not among them. */
export function modelsOf(config: Config): ModelCatalog {
  const provider = (api_key: string | undefined, base_url: string | undefined) =>
    api_key === undefined ? undefined : { api_key, ...(base_url && { base_url }) }
  const anthropic = provider(config.ANTHROPIC_API_KEY, config.ANTHROPIC_BASE_URL)
  const openai = provider(config.OPENAI_API_KEY, config.OPENAI_BASE_URL)
  const google = provider(config.GOOGLE_GENERATIVE_AI_API_KEY, config.GOOGLE_GENERATIVE_AI_BASE_URL)
  const compatible = config.OPENAI_COMPATIBLE_BASE_URL
  const models = createModelCatalog({
    default_model: config.AGENTRUN_DEFAULT_MODEL ?? null,
    ...(config.AGENTRUN_MODELS && { models: config.AGENTRUN_MODELS }),
    ...(anthropic && { anthropic }),
    ...(openai && { openai }),
    ...(google && { google }),
    ...(compatible && {
      openai_compatible: { base_url: compatible, ...(config.OPENAI_COMPATIBLE_API_KEY && { api_key: config.OPENAI_COMPATIBLE_API_KEY }) },
    }),
  })
  if (models.get(models.default_model) === null)
    throw new Error(
      `AGENTRUN_DEFAULT_MODEL: ${models.default_model} is not configured; available: ${models
        .list()
        .map(model => model.id)
        .join(', ')}`,
    )
  return models
}
