import type { BackgroundRedactor, BackgroundStream } from '../../core/redaction/background-redactor.ts'

export type LivePart = { event: 'output' | 'text'; call_id?: string; kind?: string }

const INTERVAL_MS = 60
const MAX_BYTES = 6_000
/** Characters that may wait to be redacted; of more the last are kept. Only the last few thousand of an interval are shown anyway. */
const MAX_WAITING = 256 * 1024
const KEPT_WAITING = 64 * 1024
/** Stands where something is left out. */
const GAP = '\n…\n'

type Shown = LivePart & { text: string }
/** `unheard`: what came before `waiting` while nobody followed the run. It is redacted, so that the rest of it is known, and not sent. */
type Stream = { part: LivePart; stream: BackgroundStream; unheard: string; waiting: string; gap: boolean; ended: boolean }

/**
 * Text that passes, for viewers: gathered for a moment, redacted over its pieces, and when there is more than fits only its end is sent. What
 * cannot be redacted is not sent.
 */
export class LiveText {
  readonly #send: (event: string, data: string) => void
  #streams: Stream[] = []
  #shown: Shown[] = []
  #timer: NodeJS.Timeout | null = null
  #redacting = Promise.resolve()

  constructor(send: (event: string, data: string) => void) {
    this.#send = send
  }

  /** `heard`: whether somebody follows the run. */
  add({ text, ...part }: Shown, redactor: BackgroundRedactor, heard: boolean): void {
    const known = this.#streams.find(one => !one.ended && isSame(one.part, part))
    const stream = known ?? { part, stream: redactor.stream(), unheard: '', waiting: '', gap: false, ended: false }
    if (!known) this.#streams.push(stream)
    const to = heard || stream.waiting !== '' ? 'waiting' : 'unheard'
    stream[to] += text
    if (stream[to].length > MAX_WAITING) {
      stream[to] = stream[to].slice(-KEPT_WAITING)
      if (to === 'waiting') stream.unheard = ''
      stream.gap = true
    }
    this.#schedule()
  }

  /** What is held back of the texts of this kind is sent with the rest. Resolves when all of them are redacted. */
  end(event: LivePart['event']): Promise<void> {
    const ended = this.#streams.filter(({ part }) => part.event === event)
    if (ended.length === 0) return Promise.resolve()
    for (const stream of ended) stream.ended = true
    this.#schedule()
    return this.#redact()
  }

  #schedule(): void {
    this.#timer ??= setTimeout(() => void this.#redact().then(() => this.#sendShown()), INTERVAL_MS)
  }

  #sendShown(): void {
    this.#timer = null
    for (const { event, ...data } of this.#shown.splice(0)) this.#send(event, fitting(data))
    if (this.#streams.some(({ unheard, waiting, ended }) => unheard !== '' || waiting !== '' || ended)) this.#schedule()
  }

  /** One after the other: a stream is redacted in its order, and a flood waits here and not for the thread that redacts. */
  #redact(): Promise<void> {
    this.#redacting = this.#redacting.then(async () => {
      for (const one of [...this.#streams]) await this.#redactWaiting(one)
    })
    return this.#redacting
  }

  async #redactWaiting(one: Stream): Promise<void> {
    const { part, stream, unheard, waiting, gap, ended } = one
    one.unheard = ''
    one.waiting = ''
    one.gap = false
    if (ended) this.#streams.splice(this.#streams.indexOf(one), 1)
    try {
      if (unheard !== '') await stream.push(unheard, gap)
      const follows_gap = gap && unheard === ''
      if (waiting !== '') addTo(this.#shown, { ...part, text: (follows_gap ? GAP : '') + (await stream.push(waiting, follows_gap)) })
      if (ended) addTo(this.#shown, { ...part, text: await stream.end() })
    } catch {
      addTo(this.#shown, { ...part, text: GAP })
    }
  }
}

const isSame = (a: LivePart, b: LivePart) => a.event === b.event && a.call_id === b.call_id && a.kind === b.kind

function addTo(shown: Shown[], part: Shown): void {
  if (part.text === '') return
  const last = shown.at(-1)
  if (last && isSame(last, part)) last.text = (last.text + part.text).slice(-MAX_BYTES)
  else shown.push({ ...part, text: part.text.slice(-MAX_BYTES) })
}

/** JSON escapes may make the text several times as long: cut until it fits into one notification. */
function fitting(data: { text: string }): string {
  for (let text = data.text; ; text = text.slice(Math.ceil(text.length / 2))) {
    const json = JSON.stringify({ ...data, text })
    if (Buffer.byteLength(json) <= MAX_BYTES + 1_000) return json
  }
}
