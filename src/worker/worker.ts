import { errorText } from '../core/log.ts'
import { startPolling } from '../core/polling.ts'
import { LEASE_SECONDS } from '../core/runs/lease.ts'
import { workspaceName } from '../sandbox/workspaces/workspaces.ts'
import { claimRun } from '../store/leases/claims.ts'
import { forgetWorker, reportWorker } from '../store/leases/workers.ts'
import { pollChecks } from './checks/forge-checks.ts'
import { Control } from './claim/control.ts'
import { runAs } from './claim/current-work.ts'
import { DiskWatch } from './sandbox/disk-watch.ts'
import { SWEEP_MS, sweepInTurn, sweepRuns } from './sweep/recover-lost-runs.ts'
import { sweepLeftovers } from './sweep/remove-leftovers.ts'
import { removeExpiredRuns } from './sweep/retention.ts'
import { sweepFolders, sweepWorkspaces } from './sweep/sweep-files.ts'
import { sweepMirrors } from './sweep/sweep-mirrors.ts'
import { workOnRun } from './turns/run-work.ts'
import type { ProcessServices } from './turns/turn.ts'

const REPORT_MS = 3_000
const LEFTOVERS_MS = 10 * 60_000
const RETENTION_MS = 60_000
const WORKSPACES_MS = 5_000
const FOLDERS_MS = 60_000
const SELF_TEST_MS = 30_000
const DISK_MS = 500
/** Maximum number of active and idle runs together, times the concurrency. */
const MAX_IDLE_FACTOR = 4

/**
 * Claims runs and works on them, `concurrency` at a time. Starts none while the sandbox fails its self-test
 * or the disk is full.
 */
export class Worker implements AsyncDisposable {
  readonly #deps: ProcessServices
  readonly #concurrency: number
  readonly #active = new Map<Control, { run_id: number; done: Promise<void> }>()
  readonly #polls: Disposable[] = []
  readonly #disk: DiskWatch
  #unsubscribe: () => void = () => {}
  #drained_at = 0
  #claiming: Promise<void> | null = null
  #wake_again = false
  #started = false
  #stopped = false
  #sandbox_problem: string | null = 'the sandbox has not been tested yet'

  constructor(deps: ProcessServices, concurrency: number) {
    this.#deps = deps
    this.#disk = new DiskWatch(deps)
    this.#concurrency = concurrency
  }

  /** Why no run starts; null when runs do. */
  get blocked(): string | null {
    return this.#sandbox_problem ?? this.#disk.problem
  }

  /** Tests whether runs can start here, and registers this worker with all processes. */
  async register(): Promise<void> {
    await this.#selfTest()
  }

  /** Takes runs from now on. Call `register` first. */
  async start(): Promise<void> {
    this.#unsubscribe = this.#deps.hub.onWork(() => this.wake())
    this.#every(SWEEP_MS, 'sweep', () => sweepInTurn(this.#deps))
    const { ci_poll_seconds } = this.#deps
    this.#every(ci_poll_seconds * 1_000, 'polling checks', () => pollChecks(this.#deps, ci_poll_seconds))
    this.#every(REPORT_MS, 'report', () => this.#report())
    this.#every(LEFTOVERS_MS, 'leftovers', () => sweepLeftovers(this.#deps))
    this.#every(WORKSPACES_MS, 'workspaces', () => sweepWorkspaces(this.#deps))
    this.#every(FOLDERS_MS, 'folders', () => sweepFolders(this.#deps))
    this.#every(LEFTOVERS_MS, 'mirrors', () => sweepMirrors(this.#deps))
    this.#every(LEFTOVERS_MS, 'templates', () => this.#sweepTemplates(), 'at once')
    this.#every(RETENTION_MS, 'retention', () => removeExpiredRuns(this.#deps), 'at once')
    this.#every(DISK_MS, 'checking the disk', () => this.#checkDisk())
    this.#every(SELF_TEST_MS, 'self-test', async () => {
      if (this.#sandbox_problem !== null) await this.#selfTest()
    })
    this.#started = true
    if (this.#concurrency > 0) void this.#deps.templates.test()
    await sweepRuns(this.#deps)
    this.wake()
  }

  /** Called when there may be a run to claim. */
  wake() {
    if (!this.#started || this.#stopped || this.blocked !== null) return
    if (this.#claiming) {
      this.#wake_again = true
      return
    }
    this.#claiming = this.#claimAll()
      .catch(error =>
        this.#deps.log('error', 'claiming failed; it will be retried', {
          error: errorText(error),
          owner: this.#deps.owner,
        }),
      )
      .finally(() => {
        this.#claiming = null
        if (!this.#wake_again) return
        this.#wake_again = false
        this.wake()
      })
  }

  async #claimAll() {
    await this.#checkDisk()
    while (!this.#stopped && this.blocked === null && this.#hasCapacity()) {
      const claim_began_at = performance.now()
      const run = await claimRun(this.#deps.db, {
        owner: this.#deps.owner,
        seconds: LEASE_SECONDS,
        turn_seconds: this.#deps.turn_wall_seconds,
        runs: [...this.#active.values()].map(({ run_id }) => run_id),
        only_children: [...this.#active.keys()].some(control => control.isolated),
      })
      if (!run) return
      const control = new Control(() => this.wake(), run.stalls > 0)
      const release = this.#disk.watch(workspaceName(run.id, run.epoch, null), control)
      const done = runAs(run.id, () => workOnRun(this.#deps, run, control, claim_began_at)).finally(() => {
        release()
        this.#active.delete(control)
        this.wake()
      })
      this.#active.set(control, { run_id: run.id, done })
    }
  }

  /**
   * Idle runs, which wait for a remote, do not count, up to a number that this machine can carry. A run that
   * stalled its process before works alone. While it waits, only runs that others wait for are claimed: it
   * must be alone when it continues, and this worker may be the only one that can claim its child.
   */
  #hasCapacity(): boolean {
    const working = [...this.#active.keys()].filter(control => !control.idle)
    if (working.some(control => control.isolated)) return false
    const busy = working.length
    return busy < this.#concurrency && this.#active.size < MAX_IDLE_FACTOR * this.#concurrency
  }

  /** Reports to all processes that this worker is running, and whether it takes runs. */
  async #report() {
    const { db, owner, host, folder_id, version, driver, templates } = this.#deps
    const large_repositories = templates.problem === null ? 'shared' : 'cloned'
    const sandbox_limits =
      this.#sandbox_problem === null ? JSON.stringify({ ...driver.means(), large_repositories }) : null
    const [concurrency, active] = [this.#concurrency, this.#active.size]
    const report = {
      owner,
      host,
      folder_id,
      pid: process.pid,
      version,
      sandbox: driver.name,
      sandbox_limits,
      concurrency,
      active,
    }
    await reportWorker(db, { ...report, blocked_reason: this.blocked })
  }

  async #selfTest() {
    const result = await this.#deps.driver.selfTest()
    const problem = result.ok ? null : result.reason
    const changed = problem !== this.#sandbox_problem
    this.#sandbox_problem = problem
    if (changed) await this.#report().catch(() => {})
    if (!result.ok)
      this.#deps.log('error', 'no run can start', { reason: result.reason, owner: this.#deps.owner })
    this.wake()
  }

  async #sweepTemplates() {
    await this.#deps.templates.retest()
    await this.#deps.templates.sweep()
    await this.#deps.environments.sweep()
  }

  async #checkDisk() {
    if (!(await this.#disk.check())) return
    const { problem } = this.#disk
    if (problem !== null)
      this.#deps.log('error', 'no run can start', { reason: problem, owner: this.#deps.owner })
    // They can be recreated.
    if (problem !== null) await this.#deps.templates.sweep(0).catch(() => {})
    if (problem !== null) await this.#deps.environments.sweep(0).catch(() => {})
    await this.#report().catch(() => {})
    this.wake()
  }

  #every(ms: number, what: string, work: () => Promise<void>, first: 'later' | 'at once' = 'later') {
    this.#polls.push(startPolling(ms, what, work, this.#deps.log, first))
  }

  /** Takes no more runs, and requeues each active run before its next step. */
  drain() {
    if (this.#stopped) return
    this.#stopped = true
    this.#drained_at = performance.now()
    this.#unsubscribe()
    for (const control of this.#active.keys()) control.leave()
  }

  /**
   * Drains: requeues active runs at the end of their step, after the grace at once. Resolves when no process
   * of theirs is left.
   */
  async [Symbol.asyncDispose]() {
    this.drain()
    for (const poll of this.#polls) poll[Symbol.dispose]()
    await this.#claiming
    for (const control of this.#active.keys()) control.leave()
    const left_ms = this.#deps.shutdown_grace_ms - (performance.now() - this.#drained_at)
    const grace = setTimeout(
      () => {
        for (const control of this.#active.keys()) control.end({ kind: 'shutdown' })
      },
      Math.max(0, left_ms),
    )
    await Promise.all([...this.#active.values()].map(({ done }) => done))
    clearTimeout(grace)
    await this.#deps.leases[Symbol.asyncDispose]()
    await this.#deps.environments[Symbol.asyncDispose]()
    await this.#deps.templates[Symbol.asyncDispose]()
    await forgetWorker(this.#deps.db, this.#deps.owner).catch(() => {})
  }
}
