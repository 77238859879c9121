import { invalid } from '../core/service-error.ts'
import { getOrganization } from '../store/organizations.ts'
import type { Context, ModelList, UsableModel } from './context.ts'

/** The model of that name. 400 with the list, naming `field` of the body, when there is none. */
export function requireModel(models: ModelList, name: string, field = 'model'): UsableModel {
  const model = models.get(name)
  if (model) return model
  const known = models.list().map(item => item.id)
  throw invalid(['body', field], `unknown model ${JSON.stringify(name.slice(0, 100))}; available: ${known.join(', ')}`)
}

/** The model of runs that name none: the organization's, or else the service's. 400 when the organization's is gone. */
export function defaultModel(models: ModelList, organization_model: string | null): UsableModel {
  const model = models.get(organization_model ?? models.default_model)
  if (model) return model
  throw invalid(['body', 'model'], `is required: ${organization_model}, the default of the organization, is not configured any more`)
}

export async function listModels(ctx: Context) {
  const organization = await getOrganization(ctx.db, ctx.organization_id)
  const providers = new Map<string, { label: string; value: string }[]>()
  for (const model of ctx.models.list())
    providers.set(model.provider, [...(providers.get(model.provider) ?? []), { label: model.label, value: model.id }])
  return {
    providers: [...providers].map(([name, models]) => ({ name, models })),
    default_model: organization?.default_model ?? ctx.models.default_model,
  }
}
