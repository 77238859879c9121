import { storedJson } from '../../core/json/stored-json.ts'
import type { ModelMessage } from '../port.ts'

/**
 * The name of the array of messages in the body of a request: Claude and chat completions, the Responses API,
 * Gemini.
 */
export type MessagesField = 'messages' | 'input' | 'contents'

/**
 * `settings`: what the form of the messages depends on. `head`: what precedes the messages of each request in
 * the array. `text`: all of the beginning.
 */
type KeptPrefix = { settings: string; messages: ModelMessage[]; head: string; text: string }

export type SerializedPart = 'with instructions' | 'messages only'
/** Serializes messages as the body of a request; null: it failed. */
type Serialize = (messages: ModelMessage[], part: SerializedPart) => Promise<string | null>

/** How many messages or characters of a request are serialized again until more of it is kept. */
const MAX_MESSAGES = 24
const MAX_CHARS = 64 * 1024

/**
 * The serialized beginnings of conversations: of a long one a request serializes only the messages since. A
 * beginning ends before a response, where no wire format joins messages. It belongs to the messages
 * themselves, so it ends with them, and other messages never get it.
 */
export class KeptPrefixes {
  readonly #field: string
  readonly #kept = new WeakMap<ModelMessage, KeptPrefix>()

  constructor(field: MessagesField) {
    this.#field = `"${field}":[`
  }

  /**
   * Returns the kept beginning of a conversation; null: there is none. `unmarked`: the messages whose form is
   * the same in all later requests.
   */
  find(messages: ModelMessage[], settings: string, unmarked: number): KeptPrefix | null {
    const kept = messages[0] && this.#kept.get(messages[0])
    if (kept === undefined || kept.settings !== settings || kept.messages.length > unmarked) return null
    return kept.messages.every((message, i) => message === messages[i]) ? kept : null
  }

  /**
   * Returns the body of a request with the beginning before its messages, or null if the body has another
   * form: then nothing is kept.
   */
  insert(body: string, { head, text, messages: [first] }: KeptPrefix): string | null {
    const start = body.indexOf(this.#field) + this.#field.length
    const rest = start + head.length
    if (
      start < this.#field.length ||
      !body.startsWith(head, start) ||
      body[rest] !== (head === '' ? '{' : ',')
    ) {
      if (first !== undefined) this.#kept.delete(first)
      return null
    }
    return `${body.slice(0, start)}${text}${head === '' ? ',' : ''}${body.slice(rest)}`
  }

  /**
   * Keeps the messages before the last response, once many are serialized with each request. `chars`: those
   * of this request.
   */
  async keep(
    messages: ModelMessage[],
    { settings, chars, kept }: { settings: string; chars: number; kept: KeptPrefix | null },
    serialize: Serialize,
  ) {
    const [first] = messages
    const from = kept?.messages.length ?? 0
    const end = messages.findLastIndex(({ role }) => role === 'assistant')
    if (first === undefined || end <= from || messages[end - 1]?.role === 'assistant') return
    if (messages.length - from < MAX_MESSAGES && chars < MAX_CHARS) return
    const added = messages.slice(from, end)
    const text = this.#arrayOf(await serialize(added, 'messages only'))
    if (text === null) return
    if (kept !== null)
      return void this.#kept.set(first, {
        ...kept,
        messages: messages.slice(0, end),
        text: `${kept.text},${text}`,
      })
    const whole = this.#arrayOf(await serialize(added, 'with instructions'))
    if (whole === null || !whole.endsWith(text)) return
    const head = whole.slice(0, whole.length - text.length).replace(/,$/, '')
    this.#kept.set(first, { settings, messages: messages.slice(0, end), head, text: whole })
  }

  /** The elements of the array of messages in a body. */
  #arrayOf(body: string | null): string | null {
    const start = body?.indexOf(this.#field) ?? -1
    if (body === null || start < 0) return null
    const elements = storedJson<Record<string, unknown>>(body)[this.#field.slice(1, -3)]
    if (!Array.isArray(elements)) return null
    const text = JSON.stringify(elements).slice(1, -1)
    return body.startsWith(text, start + this.#field.length) ? text : null
  }
}
