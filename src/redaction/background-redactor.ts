import type { KnownValue } from '../core/secrets/known-value.ts'
import { type BackgroundRedactor, type BackgroundStream, composed } from './port.ts'
import {
  createRedactor,
  type HeldText,
  nothing_held,
  type Scope,
  type StepOptions,
  type StreamStep,
  withoutShown,
} from './redact.ts'
import { type Method, type Owner, RedactionThreads } from './thread-pool.ts'

/**
 * The maximum size in characters, or bytes, that is redacted synchronously: a few milliseconds for any
 * content.
 */
export const MAX_AT_ONCE = 16 * 1024

/** The threads of the process: a resource of the machine, like its processors. */
const shared = new RedactionThreads()

/**
 * Returns a redactor that works on a thread for texts that would hold up the event loop.
 * @param found is called with the name of every known value that is found, at least once for each text.
 */
export function createBackgroundRedactor(
  values: readonly KnownValue[],
  found: (name: string) => void = () => {},
  threads: RedactionThreads = shared,
): BackgroundRedactor {
  const here = createRedactor(values, found)
  const owner: Owner = { values }
  const away = async <T>(method: Method, ...args: unknown[]): Promise<T> => {
    const { met, same, result } = await threads.run(owner, method, args)
    for (const name of met) found(name)
    return (same ? args[0] : result) as T
  }
  const step: Step = async (held, piece, options) =>
    held.text.length + piece.length > MAX_AT_ONCE
      ? away('step', held, piece, options)
      : here.step(held, piece, options)
  const text: BackgroundRedactor['text'] = async (text, scope) =>
    text.length > MAX_AT_ONCE ? away('text', text, scope) : here.text(text, scope)

  return {
    text,
    bytes: async (bytes, gap) =>
      composed(
        await (bytes.length > MAX_AT_ONCE ? away<Uint8Array>('bytes', bytes, gap) : here.bytes(bytes, gap)),
      ),
    value: async <T>(value: T, scope?: Scope) =>
      composed(await (isLarge(value) ? away<T>('value', value, scope) : here.value(value, scope))),
    json: async (json, scope) =>
      json.length > MAX_AT_ONCE ? away('json', json, scope) : here.json(json, scope),
    names: async text => (text.length > MAX_AT_ONCE ? away('names', text) : here.names(text)),
    stream: live => streamOf((held, piece, { gap }) => step(held, piece, { gap, live: live === true }), text),
    placeholders: here.placeholders,
    small: value => (isLarge(value) ? { left_out: 'too large' } : here.value(value)),
  }
}

type Step = (held: HeldText, piece: string, options: StepOptions) => Promise<StreamStep>

function streamOf(step: Step, text: BackgroundRedactor['text']): BackgroundStream {
  let held = nothing_held
  let lost = false
  return {
    async push(piece, gap = false) {
      const before = held
      const is_gap = gap || lost
      // After a failure the held text is dropped, and the next piece does not follow on it.
      held = nothing_held
      lost = true
      const next = await step(before, piece, { gap: is_gap })
      held = next.held
      lost = false
      return next.shown
    },
    async end() {
      const rest = held
      held = nothing_held
      return withoutShown(await text(rest.text), rest)
    },
  }
}

/** Counts until the limit is exceeded, and no further. */
function isLarge(value: unknown): boolean {
  const waiting: unknown[] = [value]
  let chars = 0
  while (waiting.length > 0 && chars <= MAX_AT_ONCE) {
    const one = waiting.pop()
    chars += typeof one === 'string' ? one.length + 2 : 4
    if (typeof one !== 'object' || one === null) continue
    if (!Array.isArray(one)) for (const key in one) chars += key.length
    const children: unknown[] = Array.isArray(one) ? one : Object.values(one)
    chars += children.length
    if (chars <= MAX_AT_ONCE) waiting.push(...children)
  }
  return chars > MAX_AT_ONCE
}
