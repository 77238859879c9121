import type { StartupSpan } from '../../contract/runs/startups.ts'
import { errorText } from '../../core/log.ts'
import { insertStartup, type StartupTimes } from '../../store/runs/run-startups.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { WorkerServices } from '../services.ts'

type Deps = Pick<WorkerServices, 'db' | 'log' | 'telemetry'>

type Part = 'mirror_ms' | 'clone_ms' | 'setup_ms' | 'sandbox_ms'
type Milestone = 'first_model_byte_ms' | 'first_action_ms'

const part_names = {
  mirror_ms: 'mirror',
  clone_ms: 'clone',
  setup_ms: 'setup',
  sandbox_ms: 'sandbox',
} as const
/** A start whose sandbox fails again and again repeats its parts. */
const MAX_SPANS = 50

/** The environment that a run reuses, as of its start. `made`: created for this run. */
type UsedEnvironment = { id: number | null; made: boolean; age_seconds: number }

/**
 * Measures the start of a run: the duration of each part, and the time from the create to the first output of
 * the model and the first action. Parts may overlap. The times are recorded once, at the first action or at
 * the end of a turn without one; a run never waits for that.
 */
export class StartupTimer {
  readonly #deps: Deps
  readonly #run: RunRow
  readonly #claim_began_at: number
  readonly #times: StartupTimes
  readonly #spans: StartupSpan[] = []
  #environment: UsedEnvironment | null = null
  #written: Promise<void> | null = null

  /** From the create to this claim: longer than the time in the queue if an earlier worker died. */
  readonly #accepted_ms: number

  /** `claim_began_at`: by `performance.now()`. */
  constructor(deps: Deps, run: RunRow, claim_began_at: number) {
    this.#deps = deps
    this.#run = run
    this.#claim_began_at = claim_began_at
    const queue_ms =
      run.started_at === null ? null : Math.max(0, run.started_at.getTime() - run.created_at.getTime())
    this.#accepted_ms = Math.max(queue_ms ?? 0, run.updated_at.getTime() - run.created_at.getTime())
    const claim_ms = Math.round(performance.now() - claim_began_at)
    if (queue_ms !== null) this.#spans.push({ part: 'queue', start_ms: 0, duration_ms: queue_ms })
    this.#spans.push({ part: 'claim', start_ms: this.#accepted_ms, duration_ms: claim_ms })
    const none = {
      mirror_ms: null,
      clone_ms: null,
      setup_ms: null,
      sandbox_ms: null,
      first_model_byte_ms: null,
      first_action_ms: null,
    }
    this.#times = { ...none, queue_ms, claim_ms }
  }

  /**
   * Measures `work` as a part of the start, even if it fails. Time of a nested part counts for that one only.
   */
  async during<T>(part: Part, work: () => Promise<T>): Promise<T> {
    const began = performance.now()
    const before = this.#sum()
    try {
      return await work()
    } finally {
      const nested = this.#sum() - before
      const duration_ms = Math.round(performance.now() - began)
      this.#spans.push({ part: part_names[part], start_ms: this.#sinceCreate(began), duration_ms })
      this.#times[part] =
        (this.#times[part] ?? 0) + Math.max(0, Math.round(performance.now() - began - nested))
    }
  }

  usedEnvironment(environment: UsedEnvironment) {
    this.#environment = environment
  }

  reached(milestone: Milestone) {
    this.#times[milestone] ??= this.#sinceCreate(performance.now())
    if (milestone === 'first_action_ms') void this.write()
  }

  /** Records the times of the first turn. Never rejects. */
  write(): Promise<void> {
    const { db, log, telemetry } = this.#deps
    const { organization_id, id, repository_id, turn } = this.#run
    if (turn > 1) return Promise.resolve()
    this.#written ??= insertStartup(db, organization_id, id, repository_id, {
      ...this.#times,
      environment: this.#environment,
      spans: this.#spans.slice(0, MAX_SPANS).sort((a, b) => a.start_ms - b.start_ms),
    }).then(
      written => written && telemetry.runStarted(this.#times),
      error => log('warn', 'the startup times of a run could not be recorded', { error: errorText(error) }),
    ) as Promise<void>
    return this.#written
  }

  /** Milliseconds from the create to a time by `performance.now()`. */
  #sinceCreate(now: number): number {
    return this.#accepted_ms + Math.round(now - this.#claim_began_at)
  }

  #sum(): number {
    const { mirror_ms, clone_ms, setup_ms, sandbox_ms } = this.#times
    return (mirror_ms ?? 0) + (clone_ms ?? 0) + (setup_ms ?? 0) + (sandbox_ms ?? 0)
  }
}
