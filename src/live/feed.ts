import type { WrittenEntry } from './hub.ts'

/** One frame of a stream: its position, and the text that is sent to every reader. */
export type Frame = { seq: number; text: string }

export type FeedSource = {
  /** At most `limit` frames after `seq`, in order. */
  after(seq: number, limit: number): Promise<Frame[]>
  /** The state, sent without a position at the start and whenever it has changed. Null: nothing. */
  state(): Promise<string | null>
  /** What is going on at this moment, sent to each reader once, when it has caught up. Null: nothing. */
  current(): Promise<string | null>
  /** Requests what was broadcast before, when readers have caught up: it follows by `sendBacklog`. */
  requestBacklog?(): Promise<void>
  /** The frame of an entry, as `after` returns it. Absent: entries are always read. */
  frameOf?(entry: WrittenEntry): Frame
  /** How many entries there were when the state was read last. */
  readonly total?: number
  /**
   * The last frame that readers are sent, once there is no more state; then they are released. Without it
   * nothing ends.
   */
  readonly end_frame?: string
}

type Page = { frames: Frame[]; whole: boolean }

export type Reader = {
  /** Where this reader is: the seq of the last frame it was given. */
  cursor: number
  /** Takes a frame; false when the reader has gone. */
  write(text: string): boolean
  /** Nothing more will come. */
  end(): void
  /**
   * True while as much waits for this reader as may: it is sent nothing more, and wakes the feed when it has
   * read that.
   */
  readonly full: boolean
  /** The state that was sent to this reader last. */
  state?: string
  /** Whether it was sent what was going on when it had caught up. */
  caught_up?: boolean
  /** Whether it was sent what had been broadcast before it came. */
  has_backlog?: boolean
}

const RECENT = 200
const RECENT_CHARACTERS = 2 * 1024 * 1024
const PAGE = 100
/**
 * What is read at once for a reader that is behind, by the size of the frames before: about as much as may
 * wait for it.
 */
const PAGE_CHARACTERS = 512 * 1024

/**
 * One stream with many readers. New frames are read from the source once and sent to all; a reader that is
 * further behind reads pages of its own. Every reader gets every frame once and in order, even when hints
 * were lost, and a state only after all that had happened by then.
 */
export class Feed {
  readonly #source: FeedSource
  readonly #readers = new Set<Reader>()
  #recent: Frame[] = []
  /** What this process has written since the last pass. */
  #offered: Frame[] = []
  #page = 10
  #running: Promise<void> | null = null
  #again = false
  /** Receives an error of the source; the next wake tries again. */
  readonly #on_error: (error: unknown) => void

  constructor(source: FeedSource, on_error: (error: unknown) => void) {
    this.#source = source
    this.#on_error = on_error
  }

  get empty() {
    return this.#readers.size === 0
  }

  add(reader: Reader): () => void {
    this.#readers.add(reader)
    this.wake()
    return () => this.#readers.delete(reader)
  }

  /**
   * Takes entries that this process has just written: the next pass does not read them if nothing before them
   * is missing.
   */
  offer(entries: WrittenEntry[]) {
    const { frameOf } = this.#source
    if (!frameOf || this.empty) return
    this.#offered = newest([...this.#offered, ...entries.map(frameOf)].sort((a, b) => a.seq - b.seq))
  }

  /** Sends an ephemeral frame to every reader that keeps up. */
  broadcast(text: string) {
    for (const reader of this.#readers) if (!reader.full) this.#give(reader, text)
  }

  /** Sends what was broadcast before to each reader that has caught up and was not sent it yet. */
  sendBacklog(text: string) {
    for (const reader of this.#readers)
      if (reader.caught_up && !reader.has_backlog && !reader.full)
        reader.has_backlog = this.#give(reader, text)
  }

  /** Reports that there may be something new. Any number of calls during one pass cause one more pass. */
  wake() {
    if (this.#running) {
      this.#again = true
      return
    }
    this.#running = this.#pass()
      .catch(this.#on_error)
      .finally(() => {
        this.#running = null
        if (this.#again && !this.empty) {
          this.#again = false
          this.wake()
        }
      })
  }

  async #pass() {
    this.#again = false
    const state = await this.#source.state()
    if (state === null && this.#source.end_frame !== undefined) return this.#release(this.#source.end_frame)
    await this.#loadRecent()
    const shared: { seq: number; page: Page | null } = { seq: -1, page: null }
    for (const reader of [...this.#readers]) {
      if (!(await this.#catchUp(reader, shared)) || state === null || reader.state === state) continue
      if (this.#give(reader, state)) reader.state = state
    }
    await this.#sendCurrent()
  }

  #release(end_frame: string) {
    for (const reader of this.#readers) {
      this.#give(reader, end_frame)
      reader.end()
    }
    this.#readers.clear()
  }

  async #sendCurrent() {
    const fresh = [...this.#readers].filter(reader => !reader.caught_up)
    const current = fresh.length === 0 ? null : await this.#source.current()
    for (const reader of fresh) {
      reader.caught_up = true
      if (current !== null) this.#give(reader, current)
    }
    if (fresh.length > 0) await this.#source.requestBacklog?.()
  }

  async #loadRecent() {
    const last = this.#recent.at(-1)?.seq ?? Math.max(0, ...[...this.#readers].map(reader => reader.cursor))
    const known = this.#takeOffered(last)
    this.#recent = newest([...this.#recent, ...known])
    const newest_seq = known.at(-1)?.seq ?? last
    if (this.#source.total !== undefined && newest_seq >= this.#source.total) return
    for (let seq = newest_seq; ; ) {
      const { frames, whole } = await this.#read(seq)
      this.#recent = newest([...this.#recent, ...frames])
      if (whole) return
      seq = frames.at(-1)?.seq ?? seq
    }
  }

  /** The offered frames that follow `last` without a gap. */
  #takeOffered(last: number): Frame[] {
    const later = this.#offered.filter(frame => frame.seq > last)
    this.#offered = []
    const gap = later.findIndex((frame, n) => frame.seq !== last + 1 + n)
    return gap < 0 ? later : later.slice(0, gap)
  }

  /** The next frames; `whole`: there are no more after them. */
  async #read(seq: number): Promise<Page> {
    const limit = this.#page
    const frames = await this.#source.after(seq, limit)
    if (frames.length > 0) {
      const characters = frames.reduce((sum, frame) => sum + frame.text.length, 0) / frames.length
      this.#page = Math.max(1, Math.min(PAGE, Math.floor(PAGE_CHARACTERS / characters)))
    }
    return { frames, whole: frames.length < limit }
  }

  /**
   * Sends a reader what it lacks, one page at most, so that nobody waits for a reader that is far behind. A
   * reader at the same position as the one before it is sent the same page. Returns true when the reader has
   * everything.
   */
  async #catchUp(reader: Reader, shared: { seq: number; page: Page | null }): Promise<boolean> {
    // Nothing is read for a reader that cannot take it.
    if (reader.full) return false
    const first = this.#recent[0]
    const last = this.#recent.at(-1)
    const covered =
      first !== undefined && last !== undefined && reader.cursor >= first.seq - 1 && reader.cursor <= last.seq
    if (!covered && (shared.page === null || shared.seq !== reader.cursor)) {
      shared.seq = reader.cursor
      shared.page = await this.#read(reader.cursor)
    }
    const { frames, whole } =
      covered || shared.page === null
        ? { frames: this.#recent.filter(frame => frame.seq > reader.cursor), whole: true }
        : shared.page
    for (const frame of frames) {
      if (reader.full || !this.#readers.has(reader) || !this.#give(reader, frame.text)) return false
      reader.cursor = frame.seq
    }
    if (!whole) this.#again = true
    return whole
  }

  #give(reader: Reader, text: string): boolean {
    const taken = reader.write(text)
    if (!taken) this.#readers.delete(reader)
    return taken
  }
}

/** The last frames that are worth keeping: the very last one, and more while they are few and small. */
function newest(frames: Frame[]): Frame[] {
  let from = frames.length
  for (let characters = 0; from > 0 && frames.length - from < RECENT; from--) {
    characters += frames[from - 1]?.text.length ?? 0
    if (characters > RECENT_CHARACTERS && from < frames.length) break
  }
  return frames.slice(from)
}
