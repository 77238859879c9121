import { isDatabaseAway } from '../../core/database-away.ts'
import { errorText } from '../../core/log.ts'
import { settledWithin } from '../../core/timeout.ts'
import type { Snapshot } from '../../git/workspace/checkpoint-commands.ts'
import type { BackgroundRedactor } from '../../redaction/port.ts'
import { extendCheckpoint, type NewCheckpoint, saveCheckpoints, TO_THE_END } from '../../store/workspaces/checkpoints.ts'
import { errorEntry } from '../../trace/entry.ts'
import { FencedError, requireOwned } from '../claim/fenced-error.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { CheckpointDeps, HostFolderDeps, LogDeps, TelemetryDeps } from '../deps.ts'
import { diskProblem } from '../sandbox/disk-full.ts'
import { type Packer, TooLarge } from './packer.ts'
import type { Snapshots } from './snapshots.ts'

/** A snapshot, when it was taken (`performance.now()`), and the entries of the trace from which to which it applies. */
export type Found = { snapshot: Snapshot; found_at: number; seq: number; through_seq: number }

/** Snapshots in quick succession share a pack, also those that are taken while one is stored; that nothing has changed may be recorded later. */
const GATHER_MS = 50
const EXTEND_MS = 250
const RETRY_MS = 1_000
/** After so many consecutive steps without a checkpoint the trace reports it. A single late snapshot is normal. */
const MAX_MISSED = 3
/** After a checkpoint that was too large, none is packed for this long. */
const PAUSE_MS = 30_000

type Deps = CheckpointDeps & LogDeps & TelemetryDeps & Pick<HostFolderDeps, 'folders' | 'disk_reserve_bytes'>

/** Stores the files of one claimed run after each step: snapshots are taken while the agent works, packs are stored in the background, all writes are fenced. */
export class Checkpoints implements AsyncDisposable {
  readonly #deps: Deps
  readonly #writer: RunWriter
  readonly #snapshots: Snapshots
  readonly #packer: Packer
  /** Snapshots that are not stored yet, oldest first. */
  #pending: Found[] = []
  #stored: (Found & { stored_through: number }) | null
  /** A step has no snapshot: the next one applies from its own entry on only. */
  #gap = false
  #storing: Promise<void> | null = null
  /** Resolves when the snapshot of the last tool is pending, or failed. */
  #noted: Promise<void> = Promise.resolve()
  #timer: NodeJS.Timeout | null = null
  #due = 0
  #not_before = 0
  #missed = 0
  readonly #reported = new Set<Code>()
  #over = false

  constructor(deps: Deps, writer: RunWriter, snapshots: Snapshots, packer: Packer, stored: Found | null) {
    this.#deps = deps
    this.#writer = writer
    this.#snapshots = snapshots
    this.#packer = packer
    this.#stored = stored && { ...stored, stored_through: stored.through_seq }
  }

  /** The first snapshot. `gap`: no stored checkpoint is known to apply until then. */
  opened({ snapshot, seq, through_seq, gap }: { snapshot: Snapshot; seq: number; through_seq: number; gap: boolean }): void {
    if (gap) this.#gap = true
    this.#note(snapshot, seq, through_seq)
  }

  /** A tool that may have changed files has ended. The returned function takes the range of its entries. */
  toolEnded(): (seq: number, through_seq: number) => void {
    const snapshotted = this.#snapshots.take()
    return (seq, through_seq) => {
      this.#noted = snapshotted.then(snapshot => {
        if (snapshot === null) this.#miss()
        else this.#note(snapshot, seq, through_seq)
      })
    }
  }

  /** The snapshot failed, or files changed while it was taken. */
  #miss(): void {
    this.#gap = true
    if (++this.#missed === MAX_MISSED) void this.#reportMissed()
  }

  async #reportMissed(): Promise<void> {
    const { folders, disk_reserve_bytes } = this.#deps
    const problem = await diskProblem(folders.workspaces, disk_reserve_bytes).catch(() => null)
    const cause = problem ?? 'something changes them continuously, or they cannot be read'
    this.#report(
      'checkpoint_failed',
      `After ${MAX_MISSED} consecutive steps the files could not be kept: ${cause}. The run continues; it can be restored as of an earlier entry only.`,
    )
  }

  /** Resolves when the files may be changed again, or `signal` fires. */
  idle(signal: AbortSignal): Promise<void> {
    return this.#snapshots.idle(signal)
  }

  /** Resolves when the files of the last step are stored, or after `timeout_ms`. */
  async stored(timeout_ms: number): Promise<void> {
    await settledWithin(
      this.#storePendingNow().catch(error => this.#trouble(error)),
      timeout_ms,
    )
  }

  async #storePendingNow(): Promise<void> {
    await this.#noted
    while (this.#pending.length > 0 && !this.#over) {
      this.#stopTimer()
      this.#storing ??= this.#storeNext()
        .then(() => {})
        .finally(() => {
          this.#storing = null
        })
      await this.#storing
    }
    if (this.#stored !== null && this.#stored.through_seq > this.#stored.stored_through) this.#soon(EXTEND_MS)
  }

  /** Takes the last snapshot, when no process of the agent is left. Resolves when everything is stored, or after `timeout_ms`. */
  async finish(timeout_ms: number): Promise<void> {
    await settledWithin(
      this.#finish().catch(error => this.#trouble(error)),
      timeout_ms,
    )
  }

  async #finish(): Promise<void> {
    const snapshot = await this.#snapshots.take(true)
    if (snapshot === null || this.#over) return
    const { total_logs } = await this.#writer.append({})
    this.#not_before = 0
    this.#note(snapshot, total_logs, TO_THE_END)
    this.#stopTimer()
    await this.#storing
    // What was stored until now may have set another one.
    this.#stopTimer()
    await this.#storeAll()
  }

  #note(snapshot: Snapshot, seq: number, through_seq: number): void {
    this.#missed = 0
    for (const reason of ['too_large', 'unreadable'] as const) {
      const paths = snapshot.left_out.filter(item => item.reason === reason).map(item => item.path)
      if (paths.length > 0) this.#report(codeOf[reason], leftOutMessage(reason, paths, this.#deps.checkpoints.max_file_bytes))
    }
    if (performance.now() < this.#not_before && this.#pending.length > 0) {
      this.#pending = []
      this.#gap = true
    }
    const waiting = this.#pending.at(-1)
    const newest = waiting ?? this.#stored
    if (newest && !this.#gap && sameFiles(newest.snapshot, snapshot)) newest.through_seq = Math.max(newest.through_seq, through_seq)
    else this.#pending.push({ snapshot, found_at: performance.now(), seq, through_seq })
    this.#gap = false
    this.#soon(Math.max(this.#pending.length > 0 ? GATHER_MS : EXTEND_MS, this.#not_before - performance.now()))
  }

  #soon(ms: number): void {
    const due = performance.now() + ms
    if (this.#over || (this.#timer && this.#due <= due)) return
    this.#stopTimer()
    this.#due = due
    this.#timer = setTimeout(() => {
      this.#timer = null
      this.#storing ??= this.#storeNext()
        .then(more => {
          if (more) this.#soon(GATHER_MS)
        })
        .catch(error => this.#trouble(error))
        .finally(() => {
          this.#storing = null
        })
    }, ms)
  }

  #stopTimer(): void {
    if (this.#timer) clearTimeout(this.#timer)
    this.#timer = null
  }

  async #storeAll(): Promise<void> {
    let more = true
    while (more) more = await this.#storeNext()
  }

  /** Stores what is pending now. Returns whether more has become pending meanwhile. */
  async #storeNext(): Promise<boolean> {
    if (this.#over) return false
    const stored = this.#stored
    // Before the next checkpoint replaces it.
    if (stored && stored.through_seq > stored.stored_through) {
      const { through_seq } = stored
      requireOwned(await extendCheckpoint(this.#writer.direct, this.#writer, stored.seq, through_seq))
      stored.stored_through = through_seq
    }
    if (this.#pending.length > 0) await this.#storePending()
    return this.#pending.length > 0 || (this.#stored !== null && this.#stored.through_seq > this.#stored.stored_through)
  }

  /** Snapshots that cannot be packed are dropped; later ones stay pending. */
  async #storePending(): Promise<void> {
    const all = [...this.#pending]
    // Only the last snapshot of an entry.
    const batch = all.filter((found, i) => all.findLastIndex(({ seq }) => seq === found.seq) === i)
    try {
      await this.#store(batch)
      this.#done(all)
    } catch (error) {
      if (error instanceof FencedError || isDatabaseAway(error)) throw error
      // The earlier snapshots may hold files that are deleted by now: the last one alone may be small enough.
      this.#done(error instanceof TooLarge && batch.length > 1 ? all.filter(found => found !== batch.at(-1)) : all)
      if (this.#pending.length === 0) this.#gap = true
      this.#not_before = performance.now() + PAUSE_MS
      this.#logFailure(error)
    }
  }

  #done(batch: Found[]): void {
    this.#pending = this.#pending.filter(found => !batch.includes(found))
  }

  async #store(batch: Found[]): Promise<void> {
    const pack = await this.#packer.pack(batch.map(found => found.snapshot))
    const last = batch.at(-1)
    if (last === undefined) return
    const rows = await Promise.all(batch.map(found => checkpointOf(this.#writer.redactor, found)))
    const { max_run_bytes } = this.#deps.checkpoints
    const saved = requireOwned(
      await saveCheckpoints(this.#writer.direct, this.#writer, {
        ...{ base_sha: this.#packer.base_sha, checkpoints: rows, pack, max_bytes: max_run_bytes },
      }),
    )
    if (saved.packs === null) throw new TooLarge(`the checkpoints of this run would be more than ${max_run_bytes} bytes`)
    await this.#packer.stored(
      pack,
      saved.packs,
      batch.map(found => found.snapshot),
    )
    this.#deps.telemetry.checkpointed({ ms: performance.now() - last.found_at, bytes: pack?.content.length ?? 0 })
    this.#stored = Object.assign(last, { stored_through: rows.at(-1)?.through_seq ?? last.seq })
  }

  /** Retries while the database is unavailable. */
  #trouble(error: unknown): void {
    if (error instanceof FencedError) this.#over = true
    else if (isDatabaseAway(error)) this.#soon(RETRY_MS)
    else this.#logFailure(error)
  }

  #logFailure(error: unknown): void {
    const too_large = error instanceof TooLarge
    this.#deps.telemetry.checkpointed({ code: too_large ? 'too_large' : 'failed' })
    this.#deps.log('error', 'a checkpoint could not be stored', { error: errorText(error) })
    if (too_large)
      this.#report(
        'checkpoint_too_large',
        `The files were not kept: ${error.message}. The run continues; it can be restored as of an earlier entry only.`,
      )
  }

  /** Writes each code once per worker of the run. */
  #report(code: Code, message: string): void {
    if (this.#reported.has(code) || this.#over) return
    this.#reported.add(code)
    this.#writer.append({ entries: [errorEntry({ code, message, retryable: false, phase: 'checkpoint' })] }).catch(() => {})
  }

  async [Symbol.asyncDispose]() {
    this.#over = true
    this.#stopTimer()
    await this.#snapshots[Symbol.asyncDispose]()
    await this.#storing
  }
}

const sameFiles = (a: Snapshot, b: Snapshot) =>
  JSON.stringify([a.tree, a.head, a.branch, a.left_out]) === JSON.stringify([b.tree, b.head, b.branch, b.left_out])

/** Names of files that are left out are redacted: they may contain a secret value. */
const checkpointOf = async (
  redactor: BackgroundRedactor,
  { snapshot: { tree, head, branch, left_out }, seq, through_seq }: Found,
): Promise<NewCheckpoint> => ({
  ...{ seq, through_seq, tree, head, branch },
  left_out: left_out.length === 0 ? null : await redactor.json(JSON.stringify(left_out)),
})

type Code = 'checkpoint_too_large' | 'checkpoint_unreadable' | 'checkpoint_failed'
const codeOf = { too_large: 'checkpoint_too_large', unreadable: 'checkpoint_unreadable' } as const

function leftOutMessage(reason: keyof typeof codeOf, paths: string[], max_file_bytes: number): string {
  const named = paths.slice(0, 5).join(', ') + (paths.length > 5 ? ` and ${paths.length - 5} more` : '')
  const why = reason === 'too_large' ? `larger than ${max_file_bytes} bytes` : 'they cannot be read, or git refuses their names'
  return `Not kept, because ${why}: ${named}. What .gitignore names is not kept either.`
}
