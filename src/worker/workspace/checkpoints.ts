import { orAborted } from '../../core/abort.ts'
import { errorText } from '../../core/log.ts'
import { settledWithin, withTimeout } from '../../core/timeout.ts'
import type { CapturedFiles, Snapshot } from '../../git/workspace/checkpoint-commands.ts'
import type { Transactional } from '../../store/database.ts'
import type { AppendResult } from '../../store/runs/append.ts'
import {
  extendCheckpoint,
  type FilesAfter,
  type KeptTree,
  saveCheckpoints,
  TO_THE_END,
} from '../../store/workspaces/checkpoints.ts'
import { errorEntry } from '../../trace/entry.ts'
import { FencedError, requireOwned } from '../claim/fenced-error.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import { diskProblem } from '../sandbox/disk-full.ts'
import type { WorkerServices } from '../services.ts'
import { type Packer, TooLarge } from './packer.ts'
import type { Snapshots } from './snapshots.ts'

/** A checkpoint that is stored: its entry, and its files. */
export type StoredCheckpoint = { seq: number; snapshot: CapturedFiles }

/**
 * The first snapshot of a workspace, which applies to these entries. `gap`: no stored checkpoint is known to
 * apply until then.
 */
export type FirstSnapshot = {
  snapshot: Promise<Snapshot | null>
  seq: number
  through_seq: number
  gap: boolean
}

/** Maximum time that the outcome of a step waits until its files are stored. */
const KEEP_MS = 60_000
/** How many consecutive steps without a checkpoint the trace reports. A single failed snapshot is normal. */
const MAX_MISSED = 3
/** After a checkpoint that was too large, none is packed for this long. */
const PAUSE_MS = 30_000

type Deps = Pick<WorkerServices, 'checkpoints' | 'log' | 'telemetry' | 'folders' | 'disk_reserve_bytes'>

/**
 * Stores the files of one claimed run after each step. The outcome of a step is recorded together with the
 * checkpoint of its files, so a worker on another disk never restores files without the changes of an action
 * that succeeded (decisions.md#the-outcome-of-a-step-waits-for-its-files).
 */
export class Checkpoints implements AsyncDisposable {
  readonly #deps: Deps
  readonly #writer: RunWriter
  readonly #snapshots: Snapshots
  readonly #packer: Packer
  /** The newest checkpoint, if it holds until now. */
  #newest: StoredCheckpoint | null
  /**
   * Counts the checkpoints that were prepared: the outcome of an earlier one may be recorded after that of a
   * later one.
   */
  #prepared = 0
  #preparing: Promise<unknown> = Promise.resolve()
  /** An outcome was recorded without its files, which are still being packed. */
  #overdue = false
  #not_before = 0
  #missed = 0
  readonly #reported = new Set<Code>()
  #over = false

  constructor(
    deps: Deps,
    writer: RunWriter,
    snapshots: Snapshots,
    packer: Packer,
    stored: StoredCheckpoint | null,
  ) {
    this.#deps = deps
    this.#writer = writer
    this.#snapshots = snapshots
    this.#packer = packer
    this.#newest = stored
  }

  /** Stores the first snapshot while the agent works. */
  opened({ snapshot, seq, through_seq, gap }: FirstSnapshot): void {
    if (gap) this.#newest = null
    const { direct } = this.#writer
    const store = async (kept: KeptSnapshot | null) => {
      if (kept !== null) await this.#storeAlone(kept, seq, through_seq)
    }
    void this.#prepare(snapshot, direct).then(store).catch(this.#logFailure)
  }

  /**
   * Records the outcome of a tool that may have changed files with `write`, as that many entries, once its
   * files are stored. Null for `write`: they could not be stored in time, or `signal` fired. Rejects when
   * `write` does.
   */
  async keep(entries: number, write: RecordOutcome, signal: AbortSignal): Promise<AppendResult> {
    const kept = await this.#keepInTime(signal)
    const written = await write(kept?.files ?? null)
    if (kept !== null) this.#recorded(kept, firstOf(entries, written.total_logs))
    return written
  }

  async #keepInTime(signal: AbortSignal): Promise<KeptSnapshot | null> {
    const preparing = this.#overdue
      ? Promise.resolve(null)
      : this.#prepare(this.#snapshots.take(), this.#writer.db)
    const late = () => 'late' as const
    const kept = await withTimeout(orAborted(preparing, signal), KEEP_MS, late).catch(error => {
      if (!signal.aborted) this.#logFailure(error)
      return signal.aborted ? late() : null
    })
    if (kept === 'late') {
      this.#overdue = true
      preparing
        .catch(() => {})
        .finally(() => {
          this.#overdue = false
        })
    }
    if (kept !== null && kept !== 'late') return kept
    this.#prepared++
    this.#newest = null
    return null
  }

  /** Prepares one checkpoint at a time: snapshots are taken in this order. */
  #prepare(snapshot: Promise<Snapshot | null>, db: Transactional): Promise<KeptSnapshot | null> {
    const began_at = performance.now()
    const prepared = this.#preparing.then(() => this.#prepareNext(snapshot, began_at, db))
    this.#preparing = prepared.catch(() => {})
    return prepared
  }

  /** Stores the objects of a snapshot. Null: there is no snapshot, or the last one was too large. */
  async #prepareNext(
    taking: Promise<Snapshot | null>,
    began_at: number,
    db: Transactional,
  ): Promise<KeptSnapshot | null> {
    const snapshot = await taking
    if (snapshot === null) this.#miss()
    if (snapshot === null || this.#over) return null
    this.#missed = 0
    this.#reportLeftOut(snapshot)
    const newest = this.#newest
    if (newest !== null && sameFiles(newest.snapshot, snapshot)) {
      this.#packer.unchanged(snapshot)
      return { snapshot, files: { unchanged_since: newest.seq }, n: this.#prepared }
    }
    this.#newest = null
    if (performance.now() < this.#not_before) return null
    const files = await this.#storeObjects(snapshot, db)
    this.#deps.telemetry.checkpointed({ ms: performance.now() - began_at, bytes: files.bytes })
    return { snapshot, files: files.tree, n: ++this.#prepared }
  }

  async #storeObjects(snapshot: Snapshot, db: Transactional): Promise<{ tree: KeptTree; bytes: number }> {
    const { max_run_bytes } = this.#deps.checkpoints
    const pack = await this.#packer.pack(snapshot)
    const stored = { base_sha: this.#packer.base_sha, checkpoints: [], pack, max_bytes: max_run_bytes }
    const { packs } = requireOwned(await saveCheckpoints(db, this.#writer, stored))
    if (packs === null) {
      this.#packer.refused()
      throw new TooLarge(`the checkpoints of this run would be more than ${max_run_bytes} bytes`)
    }
    await this.#packer.stored(pack, packs, snapshot)
    const { tree, head, branch, left_out } = snapshot
    // Names of files that are left out may contain a secret value.
    const names = left_out.length === 0 ? null : await this.#writer.redactor.json(JSON.stringify(left_out))
    const { base_sha } = this.#packer
    return {
      tree: { tree, head, branch, left_out: names, packs, base_sha },
      bytes: pack?.content.length ?? 0,
    }
  }

  /** The row of a new checkpoint is written: it is at entry `seq`. */
  #recorded({ snapshot, files, n }: KeptSnapshot, seq: number): void {
    if ('tree' in files && n === this.#prepared) this.#newest = { seq, snapshot }
  }

  async #storeAlone(kept: KeptSnapshot, seq: number, through_seq: number): Promise<void> {
    const { direct } = this.#writer
    if ('unchanged_since' in kept.files) {
      requireOwned(await extendCheckpoint(direct, this.#writer, kept.files.unchanged_since, through_seq))
      return
    }
    const { base_sha, packs: _, ...tree } = kept.files
    const { max_run_bytes: max_bytes } = this.#deps.checkpoints
    requireOwned(
      await saveCheckpoints(direct, this.#writer, {
        base_sha,
        checkpoints: [{ ...tree, seq, through_seq }],
        pack: null,
        max_bytes,
      }),
    )
    this.#recorded(kept, seq)
  }

  /** The snapshot failed, or files changed while it was taken. */
  #miss(): void {
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

  /**
   * Takes the last snapshot, when no process of the agent is left. Resolves when it is stored, or after
   * `timeout_ms`.
   */
  async finish(timeout_ms: number): Promise<void> {
    await settledWithin(this.#finish().catch(this.#logFailure), timeout_ms)
  }

  async #finish(): Promise<void> {
    this.#not_before = 0
    const kept = await this.#prepare(this.#snapshots.take(true), this.#writer.direct)
    if (kept === null || this.#over) return
    const { total_logs } = await this.#writer.append({})
    await this.#storeAlone(kept, total_logs, TO_THE_END)
  }

  #reportLeftOut({ left_out }: Snapshot): void {
    for (const reason of ['too_large', 'unreadable'] as const) {
      const paths = left_out.filter(item => item.reason === reason).map(item => item.path)
      if (paths.length > 0)
        this.#report(codeOf[reason], leftOutMessage(reason, paths, this.#deps.checkpoints.max_file_bytes))
    }
  }

  readonly #logFailure = (error: unknown): void => {
    if (error instanceof FencedError) this.#over = true
    if (this.#over) return
    const too_large = error instanceof TooLarge
    if (too_large) this.#not_before = performance.now() + PAUSE_MS
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
    this.#writer
      .append({ entries: [errorEntry({ code, message, retryable: false, phase: 'checkpoint' })] })
      .catch(() => {})
  }

  async [Symbol.asyncDispose]() {
    this.#over = true
    await this.#snapshots[Symbol.asyncDispose]()
    await this.#preparing
  }
}

/** Writes the outcome of a tool with the files after it. */
type RecordOutcome = (files: FilesAfter | null) => Promise<AppendResult>

/** An outcome without an entry of its own belongs to the last one. */
const firstOf = (entries: number, total_logs: number) => total_logs - Math.max(0, entries - 1)

/** A checkpoint whose objects are stored. `n`: its number among those that were prepared. */
type KeptSnapshot = { snapshot: Snapshot; files: FilesAfter; n: number }

const sameFiles = (a: CapturedFiles, b: CapturedFiles) =>
  JSON.stringify([a.tree, a.head, a.branch, a.left_out]) ===
  JSON.stringify([b.tree, b.head, b.branch, b.left_out])

type Code = 'checkpoint_too_large' | 'checkpoint_unreadable' | 'checkpoint_failed'
const codeOf = { too_large: 'checkpoint_too_large', unreadable: 'checkpoint_unreadable' } as const

function leftOutMessage(reason: keyof typeof codeOf, paths: string[], max_file_bytes: number): string {
  const named = paths.slice(0, 5).join(', ') + (paths.length > 5 ? ` and ${paths.length - 5} more` : '')
  const why =
    reason === 'too_large'
      ? `larger than ${max_file_bytes} bytes`
      : 'they cannot be read, or git refuses their names'
  return `Not kept, because ${why}: ${named}. What .gitignore names is not kept either.`
}
