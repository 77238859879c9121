import type { Body } from '../../../../../src/contract/calls.ts'
import type { FormState } from '../../../components/form/use-form.ts'
import type { Model } from './models-query.ts'

type Request = Body<'setModel'>
type Price = NonNullable<Model['price']>

/** What is typed; an empty field is not sent, so that the service takes what it knows. */
type ModelDraft = {
  id: string
  label: string
  api: NonNullable<Request['api']> | ''
  base_url: string
  name: string
  api_key: string
  remove_key: boolean
  context_tokens: string
  max_output_tokens: string
  input: string
  output: string
  cached: string
  cache_write: string
  /** The price of long prompts has no field: it stays. */
  long: Price['long']
  reasoning_effort: NonNullable<Request['reasoning_effort']> | 'provider' | ''
  tool_family: NonNullable<Request['tool_family']> | ''
  cache_marks: boolean
}

const empty: ModelDraft = {
  id: '',
  label: '',
  api: '',
  base_url: '',
  name: '',
  api_key: '',
  remove_key: false,
  context_tokens: '',
  max_output_tokens: '',
  input: '',
  output: '',
  cached: '',
  cache_write: '',
  long: undefined,
  reasoning_effort: '',
  tool_family: '',
  cache_marks: false,
}

/**
 * The draft for a new model (null), for the first change of a known one, or for another change of one that
 * the organization has set.
 */
export function draftOf(model: Model | null): ModelDraft {
  if (!model) return empty
  if (model.source === 'service') return { ...empty, id: model.id }
  const { input = '', output = '', cached = '', cache_write = '', long } = model.price ?? {}
  return {
    ...empty,
    id: model.id,
    label: model.label,
    api: model.api ?? '',
    base_url: model.base_url ?? '',
    name: model.name ?? '',
    context_tokens: String(model.context_tokens ?? ''),
    max_output_tokens: String(model.max_output_tokens ?? ''),
    input,
    output,
    cached,
    cache_write,
    long,
    reasoning_effort: model.reasoning_effort ?? 'provider',
    tool_family: model.tool_family,
    cache_marks: model.cache_marks,
  }
}

const typed = (text: string) => text.trim() || undefined
const count = (text: string) => (text.trim() === '' ? undefined : Number(text))

/** The fields that belong to a model with an address of its own are not sent without one. */
export function requestOf(draft: ModelDraft): Request {
  const { id, api, input, output, cached, cache_write, long, reasoning_effort, tool_family } = draft
  const priced = [input, output, cached, cache_write].some(text => text.trim() !== '')
  return {
    id: id.trim(),
    label: typed(draft.label),
    context_tokens: count(draft.context_tokens),
    max_output_tokens: count(draft.max_output_tokens),
    price: priced
      ? {
          input: input.trim(),
          output: output.trim(),
          cached: typed(cached),
          cache_write: typed(cache_write),
          ...(long && { long }),
        }
      : undefined,
    reasoning_effort:
      reasoning_effort === '' ? undefined : reasoning_effort === 'provider' ? null : reasoning_effort,
    tool_family: tool_family || undefined,
    cache_marks: draft.cache_marks || undefined,
    ...(api && {
      api,
      base_url: typed(draft.base_url),
      name: typed(draft.name),
      api_key: draft.remove_key ? null : typed(draft.api_key),
    }),
  }
}

/** What a part of the form shows and changes. `model`: null for a new one. */
export type Part = Pick<FormState<ModelDraft>, 'draft' | 'field'> & { model: Model | null }
