import type { Reservation } from '../../core/runs/budget/pot.ts'
import type { NewRecord, UsageDelta } from '../../store/runs/append.ts'

export const record = (kind: NewRecord['kind'], key: string | null, body: unknown): NewRecord => ({
  kind,
  key,
  body: JSON.stringify(body),
})

/** Returns the usage of a model call that is charged with what was reserved for it. */
export const usageOf = ({ model, input_tokens, output_tokens, cost_usd }: Reservation): UsageDelta => ({
  model,
  input_tokens,
  output_tokens,
  cost_usd,
  steps: 0,
  cached_tokens: 0,
})
