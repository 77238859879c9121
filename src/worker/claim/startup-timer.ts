import { errorText } from '../../core/log.ts'
import { insertStartup, type StartupTimes } from '../../store/runs/run-startups.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { WorkerDeps } from '../settings.ts'

type Part = 'mirror_ms' | 'clone_ms' | 'setup_ms' | 'sandbox_ms'
type Milestone = 'first_model_byte_ms' | 'first_action_ms'

/** The environment that a run stands on, as it was when it began. */
export type UsedEnvironment = { id: number | null; made: boolean; age_seconds: number }

/**
 * Takes the times of the start of a run: what each part took, and how long after the run was accepted its model and its agent had got to work.
 * Parts may go on at the same time. They are written down once, when the agent first acts or the turn ends without; a run is never held up by it.
 */
export class StartupTimer {
  readonly #deps: Pick<WorkerDeps, 'db' | 'log' | 'telemetry'>
  readonly #run: RunRow
  readonly #asked_at: number
  readonly #times: StartupTimes
  #environment: UsedEnvironment | null = null
  #written: Promise<void> | null = null

  /** From the create to this claim: more than the queue where an earlier owner died on the way. */
  readonly #accepted_ms: number

  /** `asked_at`: when the run was asked for that was then claimed, by `performance.now()`. */
  constructor(deps: Pick<WorkerDeps, 'db' | 'log' | 'telemetry'>, run: RunRow, asked_at: number) {
    this.#deps = deps
    this.#run = run
    this.#asked_at = asked_at
    const queue_ms = run.started_at === null ? null : Math.max(0, run.started_at.getTime() - run.created_at.getTime())
    this.#accepted_ms = Math.max(queue_ms ?? 0, run.updated_at.getTime() - run.created_at.getTime())
    const none = { mirror_ms: null, clone_ms: null, setup_ms: null, sandbox_ms: null, first_model_byte_ms: null, first_action_ms: null }
    this.#times = { ...none, queue_ms, claim_ms: Math.round(performance.now() - asked_at) }
  }

  /** What `work` takes is a part of the start, even if it fails. Of parts within one another only the inner one is counted. */
  async during<T>(part: Part, work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    const before = this.#sum()
    try {
      return await work()
    } finally {
      const within = this.#sum() - before
      this.#times[part] = (this.#times[part] ?? 0) + Math.max(0, Math.round(performance.now() - began - within))
    }
  }

  usedEnvironment(environment: UsedEnvironment) {
    this.#environment = environment
  }

  reached(milestone: Milestone) {
    this.#times[milestone] ??= this.#accepted_ms + Math.round(performance.now() - this.#asked_at)
    if (milestone === 'first_action_ms') void this.write()
  }

  /** Of the first turn alone. Never rejects. */
  write(): Promise<void> {
    const { db, log, telemetry } = this.#deps
    const { organization_id, id, repository_id, turn } = this.#run
    if (turn > 1) return Promise.resolve()
    this.#written ??= insertStartup(db, organization_id, id, repository_id, {
      ...this.#times,
      environment: this.#environment && JSON.stringify(this.#environment),
    }).then(
      written => written && telemetry.runStarted(this.#times),
      error => log('warn', 'the times of a start could not be written down', { error: errorText(error) }),
    ) as Promise<void>
    return this.#written
  }

  #sum(): number {
    const { mirror_ms, clone_ms, setup_ms, sandbox_ms } = this.#times
    return (mirror_ms ?? 0) + (clone_ms ?? 0) + (setup_ms ?? 0) + (sandbox_ms ?? 0)
  }
}
