import { shortError } from '../../core/text/truncate.ts'
import { createBackgroundRedactor } from '../../redaction/background-redactor.ts'
import type { BackgroundRedactor, Redacted } from '../../redaction/port.ts'
import { type Db, rollback, type Transactional } from '../../store/database.ts'
import { liveNotification, type Notification, notifyAll, runNotification } from '../../store/notify.ts'
import {
  type Addition,
  type AppendResult,
  append,
  appendedEntries,
  type NewEntry,
  type NewRecord,
} from '../../store/runs/append.ts'
import { type Change, changeRun, type RunKey } from '../../store/runs/change-run.ts'
import type { EntryRow } from '../../store/runs/log-entries.ts'
import { countedEntry, redactedEntry } from '../../trace/redacted-entry.ts'
import { requireOwned } from './fenced-error.ts'
import { ViewerPresence } from './viewer-presence.ts'

const FLUSH_DELAY_MS = 20

const no_secrets = createBackgroundRedactor([])

/** An addition without secrets: its parts were redacted when they were created. */
export type RedactedAddition = Omit<Addition, 'entries' | 'records'> & {
  entries?: Redacted<NewEntry>[]
  records?: Redacted<NewRecord>[]
}

/**
 * A change of the run that this worker owns. Texts from outside are only in its entries, its result and its
 * error.
 */
type OwnChange = Extract<Change, { from: unknown }> & { event?: never; message?: never; live?: never }

/**
 * Returns the parts of a change that are redacted. All others are words of the service, which a secret may
 * equal.
 */
const textsOf = (change: OwnChange) => ({
  ...('error' in change && { error: change.error }),
  ...('result' in change && { result: change.result }),
})

/**
 * Reports canary values that the redactor has met since the last report; `where` names the text that held
 * them.
 */
export type Alarms = { report(where: string): Promise<void> }

/**
 * Writes to one claimed run. Every write carries the epoch, and is redacted unless its type states that it
 * is; a fenced worker gets a FencedError.
 */
export class RunWriter {
  readonly db: Transactional
  /** The same database without retries, for writes that may fail: errors are thrown at once. */
  readonly direct: Transactional
  readonly organization_id: number
  readonly run_id: number
  readonly run: RunKey
  readonly epoch: number
  readonly viewers: ViewerPresence
  /** Receives the entries that were appended while there were viewers. */
  onWritten: (entries: EntryRow[]) => void = () => {}
  #redactor = no_secrets
  #alarms: Alarms | null = null
  #flush: NodeJS.Timeout | null = null
  #entries_grew = false
  #events: Notification[] = []
  #redacting: Promise<unknown> = Promise.resolve()

  constructor(
    db: Transactional,
    run: { organization_id: number; id: number; epoch: number },
    direct = db,
    viewers = new ViewerPresence(),
  ) {
    this.db = db
    this.direct = direct
    this.organization_id = run.organization_id
    this.run_id = run.id
    this.run = { organization_id: run.organization_id, id: run.id }
    this.epoch = run.epoch
    this.viewers = viewers
  }

  get redactor(): BackgroundRedactor {
    return this.#redactor
  }

  /** Redacts every later write. `alarms` report a canary before the write that contained it. */
  protect(redactor: BackgroundRedactor, alarms: Alarms): void {
    this.#redactor = redactor
    this.#alarms = alarms
  }

  /** Records the canaries that were met since the last call. */
  async reportAlarms(where: string): Promise<void> {
    await this.#alarms?.report(where)
  }

  /** Redacts, appends to trace and journal and notifies readers shortly afterwards. */
  async append(addition: Addition, db: Db = this.db): Promise<AppendResult> {
    return this.#write(await this.#redacted(addition), db)
  }

  /** Appends what is redacted already, after everything that `append` received before. */
  async appendRedacted(add: RedactedAddition, db: Db = this.db): Promise<AppendResult> {
    await this.#redacting
    return this.#write({ ...add, ...(add.entries && { entries: add.entries.map(countedEntry) }) }, db)
  }

  async #write(add: Addition, db: Db): Promise<AppendResult> {
    if (db === this.db) await this.reportAlarms(add.entries?.[0]?.tool_name ?? 'trace')
    const appended = requireOwned(await append(db, this.organization_id, this.run_id, this.epoch, add))
    if ((add.entries ?? add.records ?? []).length > 0 || add.usage) this.notify()
    // Not of a transaction, which may still be undone.
    const is_committed = db === this.db || db === this.direct
    if (this.viewers.present && is_committed && add.entries)
      this.onWritten(appendedEntries(this.run_id, add.entries, appended))
    return appended
  }

  /** Redacts in sequence, so that a small addition does not overtake a large one. */
  #redacted(add: Addition): Promise<Addition> {
    const redactor = this.#redactor
    const redact = async () => ({
      ...add,
      ...(add.entries && {
        entries: await Promise.all(add.entries.map(entry => redactedEntry(redactor, entry))),
      }),
      ...(add.records && {
        records: await Promise.all(add.records.map(record => redactedRecord(redactor, record))),
      }),
    })
    const redacted = this.#redacting.then(redact)
    this.#redacting = redacted.catch(() => {})
    return redacted
  }

  /**
   * Changes the run like `changeRun`, in one transaction with `also`. False: the run is no longer in `from`,
   * and nothing was written.
   */
  async change(change: OwnChange, also: (tx: Db) => Promise<void> = async () => {}): Promise<boolean> {
    const { entries = [] } = change
    const [texts, addition] = await Promise.all([
      this.#redactor.value(textsOf(change)),
      this.#redacted({ entries }),
    ])
    await this.reportAlarms('end')
    const { error = null } = texts
    const shown = { ...texts, ...(error && { error: { ...error, message: shortError(error.message) } }) }
    return this.db.transaction(async tx => {
      if (await changeRun(tx, this.run, { ...change, ...shown, ...addition, epoch: this.epoch })) {
        await also(tx)
        return true
      }
      // Throws if another worker owns the run. What it wrote otherwise is the time of a change that is none.
      await this.#write({}, tx)
      return rollback(false)
    })
  }

  /**
   * A viewer has announced itself. The first one may have read the tables before the entries that nobody was
   * notified of.
   */
  viewerSeen() {
    const is_first = !this.viewers.present
    this.viewers.seen()
    if (is_first) this.notify()
  }

  /** Notifies viewers of new entries. */
  notify() {
    if (!this.viewers.present) return
    this.#entries_grew = true
    this.#schedule()
  }

  /** Sends an ephemeral event to viewers. `json`: at most 7,500 bytes. */
  publish(json: string) {
    if (!this.viewers.present) return
    this.#events.push(liveNotification(this.organization_id, this.run_id, json))
    this.#schedule()
  }

  /**
   * One statement for all notifications of 20 ms, outside the transaction of a write: inside, it would cost
   * most of the write rate.
   */
  #schedule() {
    this.#flush ??= setTimeout(() => {
      const entries = this.#entries_grew ? [runNotification(this.organization_id, this.run_id)] : []
      this.#flush = null
      this.#entries_grew = false
      notifyAll(this.db, [...this.#events.splice(0), ...entries]).catch(() => {})
    }, FLUSH_DELAY_MS)
  }

  close() {
    if (this.#flush) clearTimeout(this.#flush)
  }
}

/** Messages of people are only redacted for known values; images are not text. */
async function redactedRecord(redactor: BackgroundRedactor, record: NewRecord): Promise<NewRecord> {
  if (record.kind === 'message' && record.body.includes('"data:image/')) return record
  const body = await redactor.json(record.body, record.kind === 'message' ? 'known' : 'all')
  return body === record.body ? record : { ...record, body }
}
