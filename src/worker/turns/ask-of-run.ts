import { type Ask, createAsk, neverAsk } from '../../agent/side-question.ts'
import { createTokenEstimate } from '../../agent/token-estimate.ts'
import type { Model } from '../../model/port.ts'
import type { RunSecrets } from '../sandbox/run-secrets.ts'
import { createSideQuestionJournal } from './side-question-journal.ts'
import type { TurnOf } from './turn.ts'
import { type TurnMeter, watchLimits } from './turn-limits.ts'

/** Asks the run's model within the run's budget. A scripted model only plays its script and answers no questions. */
export function askOfRun(of: TurnOf, secrets: RunSecrets): Ask {
  const model = of.deps.models.get(of.run.model)
  if (!model || model.scripted) return neverAsk
  const limits = { model, estimate: createTokenEstimate('', []), noticed: new Set<string>() }
  return askWithin(of, secrets, model, watchLimits(of, limits))
}

/** Asks a model within the limits of `meter`. */
export function askWithin({ deps, writer, control, observed }: TurnOf, { redactor }: RunSecrets, model: Model, meter: TurnMeter): Ask {
  const asking = { model: observed.model(model), journal: createSideQuestionJournal(writer), redactor, timeouts: deps.model_timeouts }
  return createAsk({ ...asking, ...meter, spent: meter.charged, signal: control.signal })
}
