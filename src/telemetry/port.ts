/**
 * Receives the events that are counted and traced. Every function returns at once and never throws. Arguments
 * are names of ours, codes, counts, ids and times: never a token, a prompt, the content of a response or the
 * output of a tool.
 */
export type Telemetry = {
  /** `traceparent`: the header of the request, as it came. */
  requestBegan(traceparent: string | undefined): RequestTelemetry
  /** A run was claimed: its turn begins or continues here. */
  turnBegan(turn: TurnFacts): TurnTelemetry
  /** Leases of others that were found to have ended. */
  leasesExpired(count: number): void
  /** Milliseconds of the parts of a run's start; null: it was none. */
  runStarted(start: Readonly<Record<string, number | null>>): void
  sandboxStarted(start: { ms: number; ok: boolean }): void
  /** `code`: why nothing was stored, or `differs` from the files; otherwise bytes that were, after `ms`. */
  checkpointed(checkpoint: { ms: number; bytes: number } | { code: string }): void
  /** A value that no task needs was met in what a sandbox shows. */
  canarySeen(): void
  /** An attempt to deliver a webhook ended. */
  webhookAttempted(attempt: { outcome: 'delivered' | 'gone' | 'refused' | 'failed'; ms: number }): void
  webhookDisabled(): void
  /** Milliseconds until a connection to the database could be used. */
  databaseWaited(ms: number): void
  /** An error reached the event loop: a defect of the service. */
  errorUncaught(event: 'uncaughtException' | 'unhandledRejection'): void
}

type RequestTelemetry = {
  /** The trace and parent span of the work that this request starts; null without tracing. */
  readonly traceparent: string | null
  /**
   * `status`: null when the client left before there was one. `operation`: of the contract, or another path.
   */
  ended(request: {
    operation: string
    method: string
    /** Template of the path; null for none of ours. */
    route: string | null
    path: string
    status: number | null
    request_id: string
  }): void
}

export type TurnFacts = {
  run_id: number
  organization_id: number
  turn: number
  epoch: number
  /** `provider/model`. */
  model: string
  agent_type: string
  /** Why another worker had it before; null when none did. */
  recovered: 'lease_lost' | 'handed_over' | null
  /** The header of the request that started the turn. */
  traceparent: string | null
}

/** Times are of the wall clock, in milliseconds. */
type TimeRange = { began_at: number; ended_at: number }

export type TurnTelemetry = {
  modelCalled(call: TimeRange & ModelCall): void
  /** A failed call will be repeated. */
  modelRetried(code: string): void
  toolEnded(tool: TimeRange & { name: string; call_id: string; status: string }): void
  /**
   * What the service itself took of a step: from the end of a model's response to the next request, tools
   * excepted.
   */
  stepTook(ms: number): void
  /**
   * `outcome`: how the turn ended here. `reason`: of a failure or a pause, or why a completed turn did not do
   * everything.
   */
  ended(end: { outcome: string; reason: string | null }): void
}

export type ModelCall = {
  /** `ok`, or the code of a ModelError. */
  outcome: string
  max_tokens: number
  /** Milliseconds to the first piece of the response; null when none came. */
  first_piece_ms: number | null
  input_tokens: number
  output_tokens: number
  cached_tokens: number
  finish_reason: string | null
  http_status: number | null
}
