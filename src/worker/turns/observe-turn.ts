import type { LoopJournal } from '../../agent/journal.ts'
import type { TurnOutcome } from '../../core/runs/outcome.ts'
import type { Model, ModelError } from '../../model/port.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { Telemetry } from '../../telemetry/port.ts'
import type { StartupTimer } from '../claim/startup-timer.ts'

/** Reports a turn to telemetry: the model and the journal that it returns behave as the given ones. */
export type ObservedTurn = {
  model(model: Model): Model
  journal(journal: LoopJournal): LoopJournal
  ended(outcome: TurnOutcome): void
}

type TurnTelemetry = ReturnType<Telemetry['turnBegan']>

const outcomes: Partial<Record<TurnOutcome['kind'], string>> = { stop: 'cancelled', shutdown: 'handed_over' }

const isModelError = (error: unknown): error is ModelError =>
  error instanceof Error && error.name === 'ModelError'

/**
 * Returns wrappers of the model and the journal of a turn that report each call, failure and outcome to the
 * telemetry.
 */
export function observeTurn(telemetry: Telemetry, run: RunRow, startup: StartupTimer): ObservedTurn {
  const turn = telemetry.turnBegan({
    run_id: run.id,
    organization_id: run.organization_id,
    turn: run.turn,
    epoch: run.epoch,
    model: run.model,
    agent_type: run.agent_type,
    recovered: run.recovery_cause,
    traceparent: run.traceparent,
  })
  const steps = measureSteps(turn)
  return {
    model: model => ({
      ...model,
      // Limits are learned while the model is used.
      get context_tokens() {
        return model.context_tokens
      },
      get max_output_tokens() {
        return model.max_output_tokens
      },
      call: request => observedCall(model, request, { turn, startup, steps }),
    }),
    journal: journal => ({
      ...journal,
      modelFailed(failed, ...more) {
        if (failed.retry_in_ms !== null) turn.modelRetried(failed.error.code)
        return journal.modelFailed(failed, ...more)
      },
      toolFinished(finished) {
        const { call, result } = finished
        const ended_at = Date.now()
        steps.toolEnded(result.duration_ms)
        turn.toolEnded({
          name: call.name,
          call_id: call.id,
          status: result.status,
          began_at: ended_at - result.duration_ms,
          ended_at,
        })
        return journal.toolFinished(finished)
      },
    }),
    ended: outcome =>
      turn.ended({
        outcome: outcomes[outcome.kind] ?? outcome.kind,
        reason: 'reason' in outcome ? outcome.reason : null,
      }),
  }
}

type Steps = ReturnType<typeof measureSteps>

/**
 * Measures the overhead of a step: from a response to the next request, without its tools. The first step
 * waits for the workspace and does not count.
 */
function measureSteps(turn: TurnTelemetry) {
  let responded_at: number | null = null
  let tools_ms = 0
  let steps = 0
  return {
    requested(now: number) {
      if (responded_at !== null && steps > 1) turn.stepTook(Math.max(0, now - responded_at - tools_ms))
      responded_at = null
      tools_ms = 0
    },
    responded() {
      responded_at = performance.now()
      steps++
    },
    toolEnded(duration_ms: number) {
      tools_ms += duration_ms
    },
  }
}

async function observedCall(
  model: Model,
  request: Parameters<Model['call']>[0],
  { turn, startup, steps }: { turn: TurnTelemetry; startup: StartupTimer; steps: Steps },
) {
  const [began, began_at] = [performance.now(), Date.now()]
  steps.requested(began)
  let first_piece_ms: number | null = null
  const on_delta: typeof request.on_delta = delta => {
    first_piece_ms ??= performance.now() - began
    startup.reached('first_model_byte_ms')
    request.on_delta?.(delta)
  }
  const callOf = (outcome: string, http_status: number | null = null) => ({
    began_at,
    ended_at: began_at + (performance.now() - began),
    outcome,
    max_tokens: request.max_output_tokens,
    first_piece_ms,
    http_status,
  })
  try {
    const response = await model.call({ ...request, on_delta })
    startup.reached('first_model_byte_ms')
    const { input_tokens, output_tokens, cached_tokens } = response.usage
    turn.modelCalled({
      ...callOf('ok'),
      input_tokens,
      output_tokens,
      cached_tokens,
      finish_reason: response.finish_reason,
    })
    steps.responded()
    return response
  } catch (error) {
    const { code, http_status } = isModelError(error) ? error : { code: 'malformed', http_status: null }
    turn.modelCalled({
      ...callOf(code, http_status),
      input_tokens: 0,
      output_tokens: 0,
      cached_tokens: 0,
      finish_reason: null,
    })
    throw error
  }
}
