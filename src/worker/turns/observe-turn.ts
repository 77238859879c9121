import type { LoopJournal } from '../../agent/journal.ts'
import type { Model, ModelError } from '../../model/port.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { Telemetry } from '../../telemetry/port.ts'
import type { StartupTimer } from '../claim/startup-timer.ts'
import type { End } from './end-turn.ts'

/** A turn as it is told to whoever counts and traces: its model and its journal do what they did, and tell of it. */
export type ObservedTurn = { model(model: Model): Model; journal(journal: LoopJournal): LoopJournal; ended(end: End): void }

const words: Partial<Record<End['kind'], string>> = { stop: 'cancelled', shutdown: 'handed_over' }

const isModelError = (error: unknown): error is ModelError => error instanceof Error && error.name === 'ModelError'

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
  // What a step takes is measured from one answer to the next request; the first tool waits for the workspace.
  let answered_at: number | null = null
  let tools_ms = 0
  let steps = 0
  return {
    model: model => ({
      ...model,
      async call(request) {
        const [began, began_at] = [performance.now(), Date.now()]
        if (answered_at !== null && steps > 1) turn.stepTook(Math.max(0, began - answered_at - tools_ms))
        answered_at = null
        tools_ms = 0
        let first_piece_ms: number | null = null
        const on_delta: typeof request.on_delta = delta => {
          first_piece_ms ??= performance.now() - began
          startup.reached('first_model_byte_ms')
          request.on_delta?.(delta)
        }
        const told = (outcome: string, http_status: number | null = null) => ({
          began_at,
          ended_at: began_at + (performance.now() - began),
          outcome,
          max_tokens: request.max_output_tokens,
          first_piece_ms,
          http_status,
        })
        try {
          const answer = await model.call({ ...request, on_delta })
          startup.reached('first_model_byte_ms')
          const { input_tokens, output_tokens, cached_tokens } = answer.usage
          turn.modelCalled({ ...told('ok'), input_tokens, output_tokens, cached_tokens, finish_reason: answer.finish_reason })
          answered_at = performance.now()
          steps++
          return answer
        } catch (error) {
          const { code, http_status } = isModelError(error) ? error : { code: 'malformed', http_status: null }
          turn.modelCalled({ ...told(code, http_status), input_tokens: 0, output_tokens: 0, cached_tokens: 0, finish_reason: null })
          throw error
        }
      },
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
        tools_ms += result.duration_ms
        turn.toolEnded({ name: call.name, call_id: call.id, status: result.status, began_at: ended_at - result.duration_ms, ended_at })
        return journal.toolFinished(finished)
      },
    }),
    ended: end => turn.ended({ outcome: words[end.kind] ?? end.kind, reason: 'reason' in end ? end.reason : null }),
  }
}
