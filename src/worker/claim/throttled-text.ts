import type { BackgroundRedactor, BackgroundStream } from '../../redaction/port.ts'

export type LivePart = { event: 'output' | 'text'; call_id?: string; kind?: string }

const INTERVAL_MS = 60
const MAX_BYTES = 6_000
/** Characters that may wait for redaction; of more only the last are kept. Viewers see only the last few thousand of an interval anyway. */
const MAX_WAITING = 256 * 1024
const KEPT_WAITING = 64 * 1024
/** Text without viewers is redacted above this size: the result of the tool or of the model has less as a whole, and is redacted itself. */
const MAX_UNREAD = 64 * 1024
/** Marks omitted text. */
const GAP = '\n…\n'

type Shown = LivePart & { text: string }
/**
 * `unseen`: text before `waiting` while the run had no viewers. It is not sent, and redacted only before text that is: the state of the redactor
 * depends on it. `unread`: nothing has been redacted yet.
 */
type Stream = { part: LivePart; stream: BackgroundStream; unseen: string; waiting: string; gap: boolean; unread: boolean; ended: boolean }

/**
 * Streams ephemeral text to viewers: collected for an interval, redacted across its pieces, and truncated to its end if it is too long. Text
 * that cannot be redacted is not sent.
 */
export class ThrottledText {
  readonly #send: (event: string, data: string) => void
  #streams: Stream[] = []
  #shown: Shown[] = []
  #timer: NodeJS.Timeout | null = null
  #redacting = Promise.resolve()

  constructor(send: (event: string, data: string) => void) {
    this.#send = send
  }

  /** `viewed`: whether the run has viewers. */
  add({ text, ...part }: Shown, redactor: BackgroundRedactor, viewed: boolean): void {
    const known = this.#streams.find(one => !one.ended && isSame(one.part, part))
    const stream = known ?? { part, stream: redactor.stream(), unseen: '', waiting: '', gap: false, unread: true, ended: false }
    if (!known) this.#streams.push(stream)
    const to = viewed || stream.waiting !== '' ? 'waiting' : 'unseen'
    stream[to] += text
    if (stream[to].length > MAX_WAITING) {
      stream[to] = stream[to].slice(-KEPT_WAITING)
      if (to === 'waiting') stream.unseen = ''
      stream.gap = true
    }
    if (!canWait(stream)) this.#schedule()
  }

  /** Sends what is held back of the texts of this kind. Resolves when all of them are redacted. */
  end(event: LivePart['event']): Promise<void> {
    const ended = this.#streams.filter(({ part }) => part.event === event)
    if (ended.length === 0) return Promise.resolve()
    for (const stream of ended) stream.ended = true
    // What nobody has seen of a text need not be redacted when it ends.
    this.#streams = this.#streams.filter(stream => !stream.ended || !canWait(stream))
    if (ended.every(canWait)) return Promise.resolve()
    this.#schedule()
    return this.#redact()
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.#redact().then(() => this.#sendShown()), INTERVAL_MS)
  }

  #sendShown(): void {
    this.#timer = null
    for (const { event, ...data } of this.#shown.splice(0)) this.#send(event, fitting(data))
    if (this.#streams.some(stream => !canWait(stream) && (stream.unseen !== '' || stream.waiting !== '' || stream.ended))) this.#schedule()
  }

  /** Redacts in sequence: a stream keeps its order, and a flood waits here and does not fill the redaction thread. */
  #redact(): Promise<void> {
    this.#redacting = this.#redacting.then(async () => {
      for (const one of this.#streams.filter(stream => !canWait(stream))) await this.#redactWaiting(one)
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
      if (unseen !== '') await stream.push(unseen, gap)
      const follows_gap = gap && unseen === ''
      if (waiting !== '') addTo(this.#shown, { ...part, text: (follows_gap ? GAP : '') + (await stream.push(waiting, follows_gap)) })
      if (ended) addTo(this.#shown, { ...part, text: await stream.end() })
    } catch {
      addTo(this.#shown, { ...part, text: GAP })
    }
  }
}

const canWait = ({ unread, waiting, unseen }: Stream) => unread && waiting === '' && unseen.length <= MAX_UNREAD

const isSame = (a: LivePart, b: LivePart) => a.event === b.event && a.call_id === b.call_id && a.kind === b.kind

function addTo(shown: Shown[], part: Shown): void {
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
