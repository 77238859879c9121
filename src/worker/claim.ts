import type { NearLimit } from '../core/near-limits.ts'
import { createRedactor, type Redactor, type TextStream } from '../core/redact.ts'
import { type Addition, type AppendAnswer, append, type NewEntry, type NewRecord } from '../store/append.ts'
import type { Db, Transactional } from '../store/database.ts'
import { insertEvent } from '../store/events.ts'
import { notifyLive, notifyRun } from '../store/notify.ts'
import { type Move, moveRun } from '../store/run-moves.ts'
import { Onlookers } from './onlookers.ts'
import { redactedEntry, redactedRecord } from './redacted-writes.ts'

/** The run is owned by somebody else by now: whatever we were about to write is not written, and we end. */
export class FencedError extends Error {
  override name = 'FencedError'
}

const DEBOUNCE_MS = 20
const LIVE_MS = 60
/** Shorter than LIVE_MS: a tool is told before its output is. */
const TOOL_MS = 30
const LIVE_BYTES = 6_000

const no_secrets = createRedactor([])

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
  readonly onlookers: Onlookers
  #redactor: Redactor = no_secrets
  /** What was met of a value that must not be met anywhere, and is to be told with the next write. */
  #alarms: Alarms | null = null
  #streams = new Map<string, { part: LivePart; stream: TextStream }>()
  #notice: NodeJS.Timeout | null = null
  #live: { event: string; call_id?: string; kind?: string; text: string }[] = []
  #liveTimer: NodeJS.Timeout | null = null
  #toolTimer: NodeJS.Timeout | null = null
  #tool: { name: string; input: Record<string, unknown> | null } | null = null
  #progressed = false

  constructor(db: Transactional, run: { organization_id: number; id: number; epoch: number }, direct = db, onlookers = new Onlookers()) {
    this.db = db
    this.direct = direct
    this.organization_id = run.organization_id
    this.run_id = run.id
    this.epoch = run.epoch
    this.onlookers = onlookers
  }

  get redactor(): Redactor {
    return this.#redactor
  }

  /** From now on nothing of these values is written. `alarms`: told before the write in which a canary was met. */
  protect(redactor: Redactor, alarms: Alarms): void {
    this.#redactor = redactor
    this.#alarms = alarms
  }

  /** Writes down what has been met since, before what it was met in. */
  async tellAlarms(where: string): Promise<void> {
    await this.#alarms?.tell(where)
  }

  /** Appends to trace and journal; readers hear of it a moment later. */
  async append(addition: Addition, db: Db = this.db): Promise<AppendAnswer> {
    const add = this.#redacted(addition)
    if (db === this.db) await this.tellAlarms(add.entries?.[0]?.tool_name ?? 'trace')
    const answer = await append(db, this.organization_id, this.run_id, this.epoch, add)
    if (!answer) throw new FencedError('the run belongs to another owner')
    if ((add.entries ?? add.records ?? []).length > 0 || add.usage) this.notify()
    return answer
  }

  #redacted(add: Addition): Addition {
    return {
      ...add,
      ...(add.entries && { entries: add.entries.map(entry => redactedEntry(this.#redactor, entry)) }),
      ...(add.records && { records: add.records.map(record => redactedRecord(this.#redactor, record)) }),
    }
  }

  /** Entries, records and a change of status together or not at all. False: the run has left `from` meanwhile, and nothing was written. */
  async move(
    move: Move,
    add: { entries?: NewEntry[]; records?: NewRecord[] } = {},
    also: (tx: Db) => Promise<void> = async () => {},
  ): Promise<boolean> {
    const [clean, said] = [this.#redactor.value(move), this.#redacted(add)]
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
    if (!this.onlookers.present) return
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
    const call = this.#redactor.value(said)
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
  toolEnded() {
    this.#tool = null
    this.#endStreams('output')
    if (this.#toolTimer) clearTimeout(this.#toolTimer)
    this.#toolTimer = null
  }

  /** Text that passes: redacted over its pieces, gathered for a moment, and when there is more than fits only its end is shown. */
  liveText(part: LivePart & { text: string }) {
    this.progressed()
    const { text, ...place } = part
    const key = `${part.event} ${part.call_id ?? part.kind ?? ''}`
    const { stream } = this.#streams.get(key) ?? { stream: this.#redactor.stream() }
    this.#streams.set(key, { part: place, stream })
    this.#showLive({ ...place, text: stream.push(text) })
  }

  /** A model's answer is whole: what was held back of its text stands in its entry. */
  answerEnded() {
    this.#endStreams('text')
  }

  #endStreams(event: LivePart['event']) {
    for (const [key, { part, stream }] of this.#streams) {
      if (part.event !== event) continue
      this.#streams.delete(key)
      this.#showLive({ ...part, text: stream.end() })
    }
  }

  #showLive(part: LivePart & { text: string }) {
    if (!this.onlookers.present || part.text === '') return
    const last = this.#live.at(-1)
    if (last && last.event === part.event && last.call_id === part.call_id && last.kind === part.kind)
      last.text = (last.text + part.text).slice(-LIVE_BYTES)
    else this.#live.push({ ...part, text: part.text.slice(-LIVE_BYTES) })
    this.#liveTimer ??= setTimeout(() => {
      this.#liveTimer = null
      for (const { event, ...data } of this.#live.splice(0)) this.#send(event, fitting(data))
    }, LIVE_MS)
  }

  #send(event: string, data: string) {
    if (!this.onlookers.present) return
    notifyLive(this.db, this.organization_id, this.run_id, `{"event":"${event}","data":${data}}`).catch(() => {})
  }

  close() {
    if (this.#notice) clearTimeout(this.#notice)
    if (this.#liveTimer) clearTimeout(this.#liveTimer)
    this.toolEnded()
  }
}

type LivePart = { event: 'output' | 'text'; call_id?: string; kind?: string }
export type Alarms = { tell(where: string): Promise<void> }

class MovedAway extends Error {}

/** JSON escapes may make the text several times as long: cut until it fits into one notification. */
function fitting(data: { text: string }): string {
  for (let text = data.text; ; text = text.slice(Math.ceil(text.length / 2))) {
    const json = JSON.stringify({ ...data, text })
    if (Buffer.byteLength(json) <= LIVE_BYTES + 1_000) return json
  }
}
