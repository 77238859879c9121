import { type Ask, createAsk, neverAsk } from '../../agent/side-question.ts'
import { createTokenEstimate } from '../../agent/token-estimate.ts'
import type { ReasoningEffort } from '../../contract/reasoning-efforts.ts'
import type { Model, ModelError } from '../../model/port.ts'
import type { RunSecrets } from '../sandbox/run-secrets.ts'
import type { AgentTurn } from './begin-conversation.ts'
import { createSideQuestionJournal } from './side-question-journal.ts'
import type { TurnOf } from './turn.ts'
import { type TurnMeter, watchLimits } from './turn-limits.ts'

/** Asks the run's model within the run's budget. A scripted model only plays its script and answers no questions. */
export function askOfRun(of: TurnOf, secrets: RunSecrets): Ask {
  const model = of.deps.models.get(of.run.model)
  if (!model || model.scripted) return neverAsk
  const limits = { model, estimate: createTokenEstimate('', []), noticed: new Set<string>() }
  return askWithin(of, secrets, { model, reasoning_effort: 'low' }, watchLimits(of, limits))
}

/**
 * Asks the review model about the change of a run, within the run's budget. A scripted run answers by its script. There is no
 * request where the run or the service has turned reviews by models off.
 */
export function askForReview(turn: AgentTurn, meter: TurnMeter): Ask {
  const { deps, run, model } = turn
  if (!deps.review.enabled || run.review === 'rules') return neverAsk
  const reviewer = model.scripted || deps.review.model === null ? model : deps.models.get(deps.review.model)
  return reviewer === null ? neverAsk : askWithin(turn, turn.secrets, { model: reviewer, reasoning_effort: deps.review.effort }, meter)
}

type Reviewer = { model: Model; reasoning_effort: ReasoningEffort }

/** Asks a model within the limits of `meter`. */
function askWithin(
  { deps, writer, control, observed }: TurnOf,
  { redactor }: RunSecrets,
  { model, reasoning_effort }: Reviewer,
  meter: TurnMeter,
): Ask {
  const failed = ({ code, message }: ModelError) => {
    if (code === 'auth')
      deps.log('error', 'a model provider rejects its key: the model is not called until the key is replaced', {
        model: model.id,
        error: message,
      })
  }
  const asking = { model: observed.model(model), reasoning_effort, journal: createSideQuestionJournal(writer), redactor, failed }
  return createAsk({ ...asking, ...meter, timeouts: deps.model_timeouts, spent: meter.charged, signal: control.signal })
}
