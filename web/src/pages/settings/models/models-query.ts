import { queryOptions } from '@tanstack/react-query'
import type { Result } from '../../../../../src/contract/calls.ts'
import { call } from '../../../api/client.ts'
import { modelsQuery } from '../../../api/queries.ts'

export type ModelSettings = Result<'getModelSettings'>
export type Model = ModelSettings['models'][number]
export type Provider = ModelSettings['providers'][number]

export const modelSettingsQuery = queryOptions({
  queryKey: ['model-settings'],
  queryFn: ({ signal }) => call('getModelSettings', { signal }),
})

export const provider_names: Record<Provider['provider'], string> = {
  anthropic: 'Anthropic',
  openai: 'OpenAI',
  google: 'Google',
  'openai-compatible': 'OpenAI-compatible server',
}

/** The queries that a change of models or keys concerns: also the models that a run can name. */
export const model_queries = [modelSettingsQuery, modelsQuery]
