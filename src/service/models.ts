import { invalid } from '../core/service-error.ts'
import type { Context, ModelList } from './context.ts'

/** The model of that name. 400 with the list when there is none. */
export function requireModel(models: ModelList, name: string): { id: string; scripted: boolean } {
  const model = models.get(name)
  if (model) return model
  const known = models.list().map(item => item.id)
  throw invalid(['body', 'model'], `unknown model ${JSON.stringify(name.slice(0, 100))}; available: ${known.join(', ')}`)
}

export function listModels(ctx: Context) {
  const providers = new Map<string, { label: string; value: string }[]>()
  for (const model of ctx.models.list())
    providers.set(model.provider, [...(providers.get(model.provider) ?? []), { label: model.label, value: model.id }])
  return { providers: [...providers].map(([name, models]) => ({ name, models })), default_model: ctx.models.default_model }
}
