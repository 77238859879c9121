import type { RecoveryStep, StepState } from '../../contract/runs/recovery.ts'

/** A journal record, reduced to what the outcome of a step depends on. `status`: how a tool ended. */
export type StepRecord = {
  turn: number
  epoch: number
  seq: number
  at: string
} /** `key`: of a call of a program; those may be parallel. */ & (
  | { kind: 'model_started'; key: string | null }
  | { kind: 'model_failed'; key: string | null; code: string }
  /** Ends a model call that wrote a summary, if one was open. */
  | { kind: 'compacted' }
  | { kind: 'model_answered'; key: string | null; calls: { id: string; name: string }[] }
  | { kind: 'tool_started'; call_id: string }
  | { kind: 'tool_finished'; call_id: string; status: string }
  | { kind: 'other' }
)

type Step = Omit<RecoveryStep, 'n'>

/**
 * Returns the outcome of every step, from the journal alone (specification.md#journal: intent before, outcome
 * after). A step with an intent of one worker and an outcome of a later one was lost with its worker.
 * `active`: whether a worker executes the run now; otherwise no step is open.
 */
export function stepsOf(records: StepRecord[], at_work: boolean): RecoveryStep[] {
  const steps: Step[] = []
  let model: Step | null = null
  const keyed = new Map<string, Step>()
  let tools = new Map<string, Step>()
  const settle = (state: StepState) => {
    if (model) model.state = state
    model = null
  }
  const begin = (record: StepRecord, kind: Step['kind'], call?: { id: string; name: string }): Step => {
    const step: Step = {
      turn: record.turn,
      kind,
      state: 'open',
      tool_name: call?.name ?? null,
      call_id: call?.id ?? null,
      seq: null,
      epoch: record.epoch,
      started_at: record.at,
      ended_at: null,
    }
    steps.push(step)
    return step
  }
  for (const record of records) {
    if ('key' in record && record.key !== null) {
      if (record.kind === 'model_started') keyed.set(record.key, begin(record, 'model_call'))
      else endKeyed(keyed.get(record.key), record)
    } else if (record.kind === 'model_started') {
      // A repeated call of the same worker had failed; one of another worker was lost.
      settle(model?.epoch === record.epoch ? 'failed' : 'reissued')
      model = begin(record, 'model_call')
    } else if (record.kind === 'model_failed') {
      // A record of another worker charges a lost call; the outcome of that call is decided by the next one.
      if (model?.epoch !== record.epoch) continue
      Object.assign(model, { seq: record.seq, ended_at: record.at })
      settle(record.code === 'not_called' ? 'not_run' : 'failed')
    } else if (record.kind === 'compacted' || record.kind === 'model_answered') {
      if (model) Object.assign(model, { seq: record.seq, ended_at: record.at })
      settle('committed')
      if (record.kind === 'compacted') continue
      tools = new Map(record.calls.map(call => [call.id, begin(record, 'tool_call', call)]))
      for (const step of tools.values()) Object.assign(step, { state: 'not_run', started_at: null })
    } else if (record.kind === 'tool_started') {
      const step = tools.get(record.call_id)
      if (step) Object.assign(step, { state: 'open', epoch: record.epoch, started_at: record.at })
    } else if (record.kind === 'tool_finished') {
      const step = tools.get(record.call_id)
      if (!step) continue
      Object.assign(step, { seq: record.seq, ended_at: record.at })
      if (step.state === 'open') step.state = record.status === 'interrupted' ? 'interrupted' : 'committed'
    }
  }
  if (!at_work) {
    settle('failed')
    for (const step of steps) if (step.state === 'open') step.state = 'interrupted'
  }
  return steps.map((step, i) => ({ n: i + 1, ...step }))
}

/** A call of a program ends by its own record. Whether a lost one is repeated is up to the program. */
function endKeyed(step: Step | undefined, record: StepRecord): void {
  if (step === undefined) return
  const { seq, at: ended_at } = record
  const failed = record.kind === 'model_failed' ? record.code : null
  const states: Record<string, StepState> = { not_called: 'not_run', lost: 'interrupted' }
  Object.assign(step, { seq, ended_at, state: failed === null ? 'committed' : (states[failed] ?? 'failed') })
}

export function countStates(steps: RecoveryStep[]): Record<StepState, number> {
  const counts = { committed: 0, reissued: 0, interrupted: 0, not_run: 0, failed: 0, open: 0 }
  for (const { state } of steps) counts[state]++
  return counts
}
