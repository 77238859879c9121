import type { BackgroundRedactor } from '../../core/redaction/background-redactor.ts'
import type { NearLimit } from '../../core/runs/near-limits.ts'
import { createBackgroundRedactor } from '../../redaction/background-redactor.ts'
import type { Db, Transactional } from '../../store/database.ts'
import { notifyLive, notifyRun } from '../../store/notify.ts'
import { type Addition, type AppendAnswer, append, type NewEntry, type NewRecord } from '../../store/runs/append.ts'
import { insertEvent } from '../../store/runs/events.ts'
import { type Move, moveRun } from '../../store/runs/run-moves.ts'
import { redactedEntry } from '../../trace/redacted-entry.ts'
import { type LivePart, LiveText } from './live-text.ts'
import { redactedRecord } from './redacted-writes.ts'
import { ViewerPresence } from './viewer-presence.ts'

/** The run is owned by somebody else by now: whatever we were about to write is not written, and we end. */
export class FencedError extends Error {
  override name = 'FencedError'
}

const DEBOUNCE_MS = 20
/** Shorter than the interval of live text: a tool is told before its output is. */
const TOOL_MS = 30
const LIVE_BYTES = 6_000

const no_secrets = createBackgroundRedactor([])

/**
 * One claimed run as its owner writes to it: every write carries the epoch, and a stale one throws FencedError. Whatever is written, or told
 * to whoever looks on, goes through its redactor.
 */
export class Claim {
  readonly db: Transactional
  /** The same database for what nobody waits for: its failures are answered at once. */
  readonly direct: Transactional
  readonly organization_id: number
  readonly run_id: number
  readonly epoch: number
  readonly viewers: ViewerPresence
  #redactor = no_secrets
  /** What was met of a value that must not be met anywhere, and is to be told with the next write. */
  #alarms: Alarms | null = null
  #notice: NodeJS.Timeout | null = null
  readonly #live = new LiveText((event, data) => this.#send(event, data))
  #redacting: Promise<unknown> = Promise.resolve()
  #toolTimer: NodeJS.Timeout | null = null
  #tool: { name: string; input: Record<string, unknown> | null } | null = null
  #progressed = false

  constructor(db: Transactional, run: { organization_id: number; id: number; epoch: number }, direct = db, viewers = new ViewerPresence()) {
    this.db = db
    this.direct = direct
    this.organization_id = run.organization_id
    this.run_id = run.id
    this.epoch = run.epoch
    this.viewers = viewers
  }

  get redactor(): BackgroundRedactor {
    return this.#redactor
  }

  /** From now on nothing of these values is written. `alarms`: told before the write in which a canary was met. */
  protect(redactor: BackgroundRedactor, alarms: Alarms): void {
    this.#redactor = redactor
    this.#alarms = alarms
  }

  /** Writes down what has been met since, before what it was met in. */
  async tellAlarms(where: string): Promise<void> {
    await this.#alarms?.tell(where)
  }

  /** Appends to trace and journal; readers hear of it a moment later. */
  async append(addition: Addition, db: Db = this.db): Promise<AppendAnswer> {
    const add = await this.#redacted(addition)
    if (db === this.db) await this.tellAlarms(add.entries?.[0]?.tool_name ?? 'trace')
    const answer = await append(db, this.organization_id, this.run_id, this.epoch, add)
    if (!answer) throw new FencedError('the run belongs to another owner')
    if ((add.entries ?? add.records ?? []).length > 0 || add.usage) this.notify()
    return answer
  }

  /** One after the other: a small addition does not overtake a large one that came before it. */
  #redacted(add: Addition): Promise<Addition> {
    const redactor = this.#redactor
    const redact = async () => ({
      ...add,
      ...(add.entries && { entries: await Promise.all(add.entries.map(entry => redactedEntry(redactor, entry))) }),
      ...(add.records && { records: await Promise.all(add.records.map(record => redactedRecord(redactor, record))) }),
    })
    const redacted = this.#redacting.then(redact)
    this.#redacting = redacted.catch(() => {})
    return redacted
  }

  /** Entries, records and a change of status together or not at all. False: the run has left `from` meanwhile, and nothing was written. */
  async move(
    move: Move,
    add: { entries?: NewEntry[]; records?: NewRecord[] } = {},
    also: (tx: Db) => Promise<void> = async () => {},
  ): Promise<boolean> {
    const [clean, said] = await Promise.all([this.#redactor.value(move), this.#redacted(add)])
    await this.tellAlarms('end')
    return this.db
      .transaction(async tx => {
        await this.append(said, tx)
        const moved = await moveRun(tx, this.organization_id, this.run_id, this.epoch, clean)
        if (!moved) throw new MovedAway()
        await insertEvent(tx, this.organization_id, this.run_id, 'agent_run.status', {
          status: move.to,
          status_reason: move.status_reason ?? null,
        })
        await also(tx)
        await notifyRun(tx, this.organization_id, this.run_id)
        return true
      })
      .catch(error => {
        if (error instanceof MovedAway) return false
        throw error
      })
  }

  /** A hint to readers, outside the append and at most every 20 ms: inside, it would cost most of the write rate. */
  notify() {
    if (!this.viewers.present) return
    this.#notice ??= setTimeout(() => {
      this.#notice = null
      notifyRun(this.db, this.organization_id, this.run_id).catch(() => {})
    }, DEBOUNCE_MS)
  }

  /** The run got on, in a way that leaves no entry yet: the next beat says so. */
  progressed() {
    this.#progressed = true
  }

  takeProgress(): boolean {
    const progressed = this.#progressed
    this.#progressed = false
    return progressed
  }

  /** A tool that starts, told to whoever looks on unless it has ended in a moment: then its entry says it all. */
  toolStarted(said: { id: string; name: string; input: Record<string, unknown> | null }) {
    const call = { ...said, input: said.input && this.#redactor.small(said.input) }
    this.#tool = call
    const started = { call_id: call.id, tool_name: call.name, tool_input: call.input, started_at: new Date().toISOString() }
    const data = JSON.stringify(started)
    this.#toolTimer = setTimeout(
      () => this.#send('tool', Buffer.byteLength(data) < LIVE_BYTES ? data : JSON.stringify({ ...started, tool_input: {} })),
      TOOL_MS,
    )
  }

  /** What the agent does at this moment. */
  get tool() {
    return this.#tool
  }

  /** The agent was told that limits are near, and so is whoever looks on. */
  limitsNear(limits: NearLimit[]) {
    this.#send('notice', JSON.stringify({ limits }))
  }

  /** What was held back of its output is shown. */
  async toolEnded(): Promise<void> {
    this.#tool = null
    if (this.#toolTimer) clearTimeout(this.#toolTimer)
    this.#toolTimer = null
    await this.#live.end('output')
  }

  /** Text that passes, for whoever looks on. */
  liveText(part: LivePart & { text: string }) {
    this.progressed()
    this.#live.add(part, this.#redactor, this.viewers.present)
  }

  /** A model's answer is whole: what was held back of its text stands in its entry. */
  async answerEnded(): Promise<void> {
    await this.#live.end('text')
  }

  #send(event: string, data: string) {
    if (!this.viewers.present) return
    notifyLive(this.db, this.organization_id, this.run_id, `{"event":"${event}","data":${data}}`).catch(() => {})
  }

  close() {
    if (this.#notice) clearTimeout(this.#notice)
    void this.toolEnded()
  }
}

export type Alarms = { tell(where: string): Promise<void> }

class MovedAway extends Error {}
