import { isEstimated } from '../../agent/token-estimate.ts'
import type { Reservation } from '../../core/runs/budget/pot.ts'
import type { ModelUsage } from '../../model/port.ts'
import type { NewRecord, UsageDelta } from '../../store/runs/append.ts'

export const record = (kind: NewRecord['kind'], key: string | null, body: unknown): NewRecord => ({
  kind,
  key,
  body: JSON.stringify(body),
})

/** Returns the usage of a model call, as that many steps of the agent. */
export const deltaOf = (model: string, steps: number, usage: ModelUsage): UsageDelta => ({
  model,
  steps,
  input_tokens: usage.input_tokens,
  output_tokens: usage.output_tokens,
  cached_tokens: usage.cached_tokens,
  cost_usd: usage.cost_usd,
  estimated_calls: isEstimated(usage) ? 1 : 0,
})

/** Returns the usage of a model call that is charged with an estimate. */
export const usageOf = ({ model, input_tokens, output_tokens, cost_usd }: Reservation): UsageDelta => ({
  model,
  input_tokens,
  output_tokens,
  cost_usd,
  steps: 0,
  cached_tokens: 0,
  estimated_calls: 1,
})
