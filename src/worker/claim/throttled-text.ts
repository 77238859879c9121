import type { BackgroundRedactor, BackgroundStream } from '../../redaction/port.ts'

export type LivePart = { event: 'output' | 'text'; call_id?: string; kind?: string }

const INTERVAL_MS = 60
const MAX_BYTES = 6_000
/**
 * Characters that may wait for redaction; of more only the last are kept. Viewers see only the last few
 * thousand of an interval anyway.
 */
const MAX_WAITING = 256 * 1024
const KEPT_WAITING = 64 * 1024
/**
 * Text without viewers is redacted above this size: the result of the tool or of the model has less as a
 * whole, and is redacted itself.
 */
const MAX_UNREAD = 64 * 1024
/**
 * Characters of a text that a viewer who comes later gets at once, and bytes of those of all texts together.
 */
const KEPT_SHOWN = 6_000
const MAX_SO_FAR_BYTES = 7_000
/** Marks omitted text. */
const GAP = '\n…\n'

type ShownPart = LivePart & { text: string }
/**
 * `unseen`: text before `waiting` while the run had no viewers. It is not sent, and redacted only before text
 * that is: the state of the redactor depends on it. `unread`: nothing has been redacted yet. `tail`: the end
 * of what has been redacted.
 */
type Stream = {
  part: LivePart
  stream: BackgroundStream
  unseen: string
  waiting: string
  tail: string
  gap: boolean
  unread: boolean
  ended: boolean
}

/**
 * Streams ephemeral text to viewers: collected for an interval, redacted across its pieces, and truncated to
 * its end if it is too long. Text that cannot be redacted is not sent.
 */
export class ThrottledText {
  readonly #send: (event: string, data: string) => void
  #streams: Stream[] = []
  #shown: ShownPart[] = []
  #timer: NodeJS.Timeout | null = null
  /** A viewer waits for what the texts contain so far. */
  #requested = false
  #redacting = Promise.resolve()

  constructor(send: (event: string, data: string) => void) {
    this.#send = send
  }

  /** `viewed`: whether the run has viewers. */
  add({ text, ...part }: ShownPart, redactor: BackgroundRedactor, viewed: boolean): void {
    const known = this.#streams.find(one => !one.ended && isSame(one.part, part))
    const stream = known ?? {
      part,
      stream: redactor.stream(true),
      unseen: '',
      waiting: '',
      tail: '',
      gap: false,
      unread: true,
      ended: false,
    }
    if (!known) this.#streams.push(stream)
    const to = viewed || stream.waiting !== '' ? 'waiting' : 'unseen'
    stream[to] += text
    if (stream[to].length > MAX_WAITING) {
      stream[to] = stream[to].slice(-KEPT_WAITING)
      if (to === 'waiting') stream.unseen = ''
      stream.gap = true
    }
    if (!this.#canWait(stream)) this.#schedule()
  }

  /**
   * Sends the end of each text that has not ended, also of what was added without viewers: for a viewer that
   * has just come.
   */
  sendSoFar(): void {
    if (this.#streams.length === 0) return
    this.#requested = true
    this.#schedule()
  }

  /** Sends what is held back of the texts of this kind. Resolves when all of them are redacted. */
  end(event: LivePart['event']): Promise<void> {
    const ended = this.#streams.filter(({ part }) => part.event === event)
    if (ended.length === 0) return Promise.resolve()
    for (const stream of ended) stream.ended = true
    // What nobody has seen of a text need not be redacted when it ends.
    this.#streams = this.#streams.filter(stream => !stream.ended || !this.#canWait(stream))
    if (ended.every(stream => this.#canWait(stream))) return Promise.resolve()
    this.#schedule()
    return this.#redact()
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => {
      const requested = this.#requested
      void this.#redact().then(() => this.#sendShown(requested))
    }, INTERVAL_MS)
  }

  /** What is so far follows the pieces that it contains: a viewer that gets both replaces them. */
  #sendShown(requested: boolean): void {
    this.#timer = null
    for (const { event, ...data } of this.#shown.splice(0)) this.#send(event, fitting(data))
    if (requested) {
      this.#requested = false
      const parts = this.#streams
        .filter(({ ended, tail }) => !ended && tail !== '')
        .map(({ part, tail }) => ({ ...part, text: tail }))
      if (parts.length > 0) this.#send('so_far', fittingParts(parts))
    }
    const rest = this.#streams.some(
      one => !this.#canWait(one) && (one.unseen !== '' || one.waiting !== '' || one.ended),
    )
    if (rest || this.#requested) this.#schedule()
  }

  /** Whether nobody needs the text yet: it may end without having been redacted. */
  #canWait({ unread, waiting, unseen }: Stream): boolean {
    return !this.#requested && unread && waiting === '' && unseen.length <= MAX_UNREAD
  }

  /**
   * Redacts in sequence: a stream keeps its order, and a flood waits here and does not fill the redaction
   * thread.
   */
  #redact(): Promise<void> {
    this.#redacting = this.#redacting.then(async () => {
      for (const one of this.#streams.filter(stream => !this.#canWait(stream))) await this.#redactWaiting(one)
    })
    return this.#redacting
  }

  async #redactWaiting(one: Stream): Promise<void> {
    const { part, stream, unseen, waiting, gap, ended } = one
    one.unseen = ''
    one.waiting = ''
    one.gap = false
    one.unread = false
    if (ended) this.#streams.splice(this.#streams.indexOf(one), 1)
    try {
      if (unseen !== '') one.tail = keptTail(one.tail + (gap ? GAP : '') + (await stream.push(unseen, gap)))
      const follows_gap = gap && unseen === ''
      if (waiting !== '')
        this.#show(one, (follows_gap ? GAP : '') + (await stream.push(waiting, follows_gap)))
      if (ended) addTo(this.#shown, { ...part, text: await stream.end() })
    } catch {
      this.#show(one, GAP)
    }
  }

  #show(one: Stream, text: string): void {
    one.tail = keptTail(one.tail + text)
    addTo(this.#shown, { ...one.part, text })
  }
}

const keptTail = (text: string) => text.slice(-KEPT_SHOWN)

const isSame = (a: LivePart, b: LivePart) =>
  a.event === b.event && a.call_id === b.call_id && a.kind === b.kind

function addTo(shown: ShownPart[], part: ShownPart): void {
  if (part.text === '') return
  const last = shown.at(-1)
  if (last && isSame(last, part)) last.text = (last.text + part.text).slice(-MAX_BYTES)
  else shown.push({ ...part, text: part.text.slice(-MAX_BYTES) })
}

/** JSON escapes can multiply the length of the text: truncates until it fits into one notification. */
function fitting(data: { text: string }): string {
  for (let text = data.text; ; text = text.slice(Math.ceil(text.length / 2))) {
    const json = JSON.stringify({ ...data, text })
    if (Buffer.byteLength(json) <= MAX_BYTES + 1_000) return json
  }
}

/**
 * The parts as JSON that fits into one notification: the longest loses its beginning until it does, and only
 * the newest eight are sent.
 */
function fittingParts(all: ShownPart[]): string {
  const parts = all.slice(-8)
  for (;;) {
    const json = JSON.stringify({ parts })
    const longest = parts.reduce((a, b) => (b.text.length > a.text.length ? b : a))
    if (Buffer.byteLength(json) <= MAX_SO_FAR_BYTES || longest.text === '') return json
    longest.text = longest.text.slice(Math.ceil(longest.text.length / 4))
  }
}
