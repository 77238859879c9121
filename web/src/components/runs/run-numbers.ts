import type { AgentRun } from '../../../../src/contract/runs/runs.ts'

/** Milliseconds a worker spent on the run; while it works on its first turn, the time since it started. */
export function elapsed({ usage, status, turn, started_at }: AgentRun, now: number): number | null {
  const active = usage.active_seconds * 1000
  const at_work = status === 'starting' || status === 'running' || status === 'cancelling'
  if (at_work && turn === 1 && started_at) return Math.max(active, now - Date.parse(started_at))
  return active > 0 ? active : null
}

export const tokens = ({ usage }: AgentRun) => usage.input_tokens + usage.output_tokens
