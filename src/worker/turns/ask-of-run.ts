import { type Ask, askNobody, createAsk } from '../../agent/side-question.ts'
import { createTokenEstimate } from '../../agent/token-estimate.ts'
import type { RunSecrets } from '../sandbox/run-secrets.ts'
import { createSideQuestionJournal } from './side-question-journal.ts'
import type { TurnOf } from './turn.ts'
import { watchLimits } from './turn-limits.ts'

/** Asks the run's model, within the run's budget; a scripted one was not written to be asked anything but its script. */
export function askOfRun({ deps, writer, run, control, beat, observed }: TurnOf, { redactor }: RunSecrets): Ask {
  const model = deps.models.get(run.model)
  if (!model || model.scripted) return askNobody
  const limits = { model, estimate: createTokenEstimate('', []), noticed: new Set<string>() }
  const meter = watchLimits(deps, run, limits, beat.worked_ms, control)
  const asking = { model: observed.model(model), journal: createSideQuestionJournal(writer), redactor, timeouts: deps.model_timeouts }
  return createAsk({ ...asking, ...meter, spent: meter.charged, signal: control.signal })
}
