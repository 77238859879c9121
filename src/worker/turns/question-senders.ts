import {
  createQuestionSender,
  type SendQuestion,
  type SideQuestionJournal,
  type SideQuestionSteps,
  sendNoQuestion,
} from '../../agent/side-question.ts'
import { createTokenEstimate } from '../../agent/token-estimate.ts'
import type { ReasoningEffort } from '../../contract/reasoning-efforts.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import { chargeOfLost, type Reservation } from '../../core/runs/budget/pot.ts'
import type { Model, ModelError, ModelMessage } from '../../model/port.ts'
import { listAsides, newestMessages } from '../../store/runs/journal.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { RunSecrets } from '../sandbox/run-secrets.ts'
import type { AgentTurn } from './begin-conversation.ts'
import { record, usageOf } from './journal-records.ts'
import type { TurnContext } from './turn.ts'
import { createTurnMeter, type TurnMeter } from './turn-limits.ts'

/**
 * Returns a function that queries the run's model within the run's budget. A scripted model only plays its
 * script: nothing is sent to it.
 */
export function questionSenderOfRun(context: TurnContext, secrets: RunSecrets): SendQuestion {
  const model = context.deps.models.get(context.run.model)
  if (!model || model.scripted) return sendNoQuestion
  const limits = { model, estimate: createTokenEstimate('', []), noticed: new Set<string>() }
  return questionSenderWithin(
    context,
    secrets,
    { model, reasoning_effort: 'low' },
    createTurnMeter(context, limits),
  )
}

/**
 * Returns a function that queries the review model about the change of a run, within the run's budget. A
 * scripted run responds by its script. Nothing is sent if the run or the service has turned off reviews by
 * models.
 */
export function reviewQuestionSender(turn: AgentTurn, meter: TurnMeter): SendQuestion {
  const { deps, run, model } = turn
  if (!deps.review.enabled || run.review === 'rules') return sendNoQuestion
  const reviewer = model.scripted || deps.review.model === null ? model : deps.models.get(deps.review.model)
  return reviewer === null
    ? sendNoQuestion
    : questionSenderWithin(
        turn,
        turn.secrets,
        { model: reviewer, reasoning_effort: deps.review.effort },
        meter,
      )
}

type Reviewer = { model: Model; reasoning_effort: ReasoningEffort }

/** Returns a function that queries a model within the limits of `meter`. */
function questionSenderWithin(
  { deps, writer, control, observed }: TurnContext,
  { redactor }: RunSecrets,
  { model, reasoning_effort }: Reviewer,
  meter: TurnMeter,
): SendQuestion {
  const failed = ({ code, message }: ModelError) => {
    if (code === 'auth')
      deps.log(
        'error',
        'a model provider rejects its key: the model is not called until the key is replaced',
        {
          model: model.id,
          error: message,
        },
      )
  }
  const input = {
    model: observed.model(model),
    reasoning_effort,
    journal: createSideQuestionJournal(writer),
    redactor,
    failed,
  }
  return createQuestionSender({
    ...input,
    ...meter,
    timeouts: deps.model_timeouts,
    spent: meter.charged,
    signal: control.signal,
  })
}

const NEWEST_MESSAGES = 50

/** Returns the journal of questions to the model beside the conversation. Every write is fenced. */
function createSideQuestionJournal(writer: RunWriter): SideQuestionJournal {
  const { organization_id, run_id } = writer
  return {
    async steps(key) {
      const rows = await listAsides(writer.db, organization_id, run_id, key)
      const of = (kind: string) => rows.filter(row => row.kind === kind)
      const started = of('aside_started').map(({ body, created_at }) => {
        const { reservation } = storedJson<{ reservation: Reservation }>(body)
        return chargeOfLost(reservation, Date.now() - created_at.getTime())
      })
      return {
        started,
        ended: of('aside_ended').map(({ body }) => storedJson<SideQuestionSteps['ended'][number]>(body)),
      }
    },
    async messages() {
      const bodies = await newestMessages(writer.db, organization_id, run_id, NEWEST_MESSAGES)
      return bodies.toReversed().flatMap(body => storedJson<{ messages: ModelMessage[] }>(body).messages)
    },
    async started(key, reservation) {
      await writer.append({
        records: [record('aside_started', key, { reservation })],
        reserved_usd: reservation.cost_usd ?? '0',
      })
    },
    async ended(key, ended, charge) {
      const { cached_tokens = 0, estimated = true } = charge ?? {}
      const estimated_calls = estimated ? 1 : 0
      const usage = charge && { usage: { ...usageOf(charge), cached_tokens, estimated_calls } }
      await writer.append({ records: [record('aside_ended', key, ended)], reserved_usd: '0', ...usage })
    },
  }
}
