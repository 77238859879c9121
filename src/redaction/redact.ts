import { storedJson } from '../core/json/stored-json.ts'
import type { KnownValue } from '../core/secrets/known-value.ts'
import { type Finder, finderOf, type Match } from './find-any.ts'
import { formsOf, mayBeWord } from './secret-forms.ts'
import { apartFrom, merged, outside, type Span } from './spans.ts'
import { isStructure } from './structure-words.ts'
import { findShapes, openShape, shape_marks, shape_names } from './token-shapes.ts'
import {
  asItIs,
  hasEscapes,
  hasMarks,
  hasNumbers,
  hasQuoted,
  joinedLines,
  joinedNumbers,
  unescaped,
  unquoted,
  type View,
  withoutMarks,
} from './unescaped.ts'

/** `known`: only the given values. `all`: also credential-shaped text. */
export type Scope = 'known' | 'all'

export type Redactor = {
  /**
   * Returns the text with `[redacted:NAME]` for every value, however it is encoded, and for credential-shaped
   * text. Idempotent.
   */
  text(text: string, scope?: Scope): string
  /**
   * The same for bytes that may not be text. `gap`: bytes are missing at this position, and what may be part
   * of a value on either side is removed.
   */
  bytes(bytes: Uint8Array, gap?: number): Uint8Array
  /** The same for every key and string of a JSON value; an unchanged value is returned as it is. */
  value<T>(value: T, scope?: Scope): T
  /** The same for JSON text. */
  json(json: string, scope?: Scope): string
  /**
   * For text that arrives in pieces: the results of `push` and `end` together equal the redacted whole.
   * `live`: a line that has ended is shown whole, although up to three characters at its end may begin a
   * value. If they do, the placeholder follows them.
   */
  stream(live?: boolean): TextStream
  /**
   * One push of a stream, without hidden state. `gap`: text is missing before the piece, and the held text is
   * dropped.
   */
  step(held: HeldText, piece: string, options?: StepOptions): StreamStep
  /**
   * Returns the names of the values in the text, each once; except values that may be a word or a path, which
   * many texts contain.
   */
  names(text: string): string[]
  /** Returns the placeholders in a text that this redactor may have inserted; each once. */
  placeholders(text: string): string[]
}
type TextStream = {
  /** Returns the text that can be shown so far; a possible beginning of a value is held back. */
  push(piece: string): string
  end(): string
}

/** A possible beginning of a value. `shown`: the number of its characters that are shown already. */
export type HeldText = { text: string; shown: number }
export type StepOptions = { gap?: boolean; live?: boolean }
/** The text that can be shown so far, and a possible beginning of a value. */
export type StreamStep = { shown: string; held: HeldText }

export const nothing_held: HeldText = { text: '', shown: 0 }

type NamedSpan = Span & { name: string; word?: boolean }

const placeholder = (name: string) => `[redacted:${name}]`
const PLACEHOLDER = /\[redacted:([A-Za-z_][A-Za-z0-9_]{0,120})\]/g
/** Levels of nested escapes that are decoded. */
const LEVELS = 4
/** An incomplete escape or terminal control sequence. */
const HALF_ESCAPE =
  /(?:(?:\x1b|\\u001b|\\x1b|\\033|\\e)(?:\[[0-?]*[ -/]*)?|\xe2[\x80\x81]?|\xef\xbb?|(?<!\\)\\+(?:u[0-9a-fA-F]{0,3}|x[0-9a-fA-F]?|[0-7]{1,2})?|%[0-9a-fA-F]?|=(?:[0-9a-fA-F]|[ \t]{0,8}\r?)?|&#?[0-9a-zA-Z]{0,8})$/
const ESCAPE_CHARS = 200
/**
 * The maximum number of distinct names that are counted; more would be invented by the author of the text.
 */
const MAX_NAMES = 50
const SHORTEST_REST = 3
const MAX_HELD_CHARS = 65_536

/**
 * Returns how many values were redacted from a text, by name; null for none. Recognized by their
 * placeholders.
 */
export function countRedactions(text: string): Record<string, number> | null {
  if (!text.includes('[redacted:')) return null
  const counts: Record<string, number> = Object.create(null)
  for (const [, name = ''] of text.matchAll(PLACEHOLDER))
    if (name in counts || Object.keys(counts).length < MAX_NAMES) counts[name] = (counts[name] ?? 0) + 1
  return Object.keys(counts).length === 0 ? null : counts
}

/**
 * `known` returns the given values in a text; `find` also credential-shaped text with scope `all`, and
 * reports the names of values.
 */
type Search = {
  texts: string[]
  finder: Finder
  known(text: string): NamedSpan[]
  find(text: string, scope: Scope): NamedSpan[]
}

function searchFor(values: readonly KnownValue[], found: (name: string) => void): Search {
  const forms = values.flatMap(({ name, value }) =>
    formsOf(value).flatMap(form => (isStructure(form) ? [] : [{ name, form, word: mayBeWord(value) }])),
  )
  const texts = forms.map(({ form }) => form)
  const finder = finderOf(texts)
  const known = (text: string): NamedSpan[] => {
    if (texts.length === 0) return []
    const spans: NamedSpan[] = []
    for (const view of viewsOf(text))
      for (const match of finder.all(view.text)) {
        const { name, word } = forms[match.which] ?? { name: '', word: true }
        spans.push({ ...spanOf(view, match), name, word })
      }
    return outsidePlaceholders(text, spans)
  }
  const find = (text: string, scope: Scope): NamedSpan[] => {
    const spans = known(text)
    for (const { name } of spans) found(name)
    const values = merged(spans)
    if (scope === 'known') return values
    const shapes = outsidePlaceholders(text, findShapes(text))
    return shapes.length === 0 ? values : merged([...values, ...apartFrom(shapes, values)])
  }
  return { texts, finder, known, find }
}

/**
 * Returns a redactor for the known values of a run and for credentials of known shapes.
 * @param found is called with the name of every known value that is found, each time.
 */
export function createRedactor(
  values: readonly KnownValue[],
  found: (name: string) => void = () => {},
): Redactor {
  const { texts, finder, known, find } = searchFor(values, found)
  const redacted = (text: string, scope: Scope = 'all') => replaced(text, find(text, scope))

  const walk = (value: unknown, scope: Scope): unknown => {
    if (typeof value === 'string') return redacted(value, scope)
    if (typeof value !== 'object' || value === null) return value
    if (Array.isArray(value)) return value.map(item => walk(item, scope))
    return Object.fromEntries(
      Object.entries(value).map(([key, item]) => [redacted(key, scope), walk(item, scope)]),
    )
  }
  const step = (held: HeldText, piece: string, { gap = false, live = false }: StepOptions = {}) => {
    const next = gap
      ? { text: piece.slice(restOfForm(texts, piece)), shown: 0 }
      : { text: held.text + piece, shown: held.shown }
    return stepOf(text => find(text, 'all'), finder, next, live)
  }
  const head = (text: string) => {
    const { shown, held } = step(nothing_held, text)
    const rest = redacted(held.text)
    return rest.length > SHORTEST_REST ? shown : shown + rest
  }
  const tail = (text: string) => redacted(text.slice(restOfForm(texts, text)))
  /**
   * For JSON text, which has one more level of escapes than its strings: every value inside them is found.
   */
  const containsSecret = (json: string, scope: Scope) =>
    known(json).length > 0 || (scope === 'all' && mayContainShape(json))

  return {
    text: redacted,
    bytes(bytes, gap) {
      const text = Buffer.from(bytes.buffer, bytes.byteOffset, bytes.byteLength).toString('latin1')
      const clean = gap === undefined ? redacted(text) : head(text.slice(0, gap)) + tail(text.slice(gap))
      return clean === text ? bytes : Buffer.from(clean, 'latin1')
    },
    value(value, scope = 'all') {
      return (containsSecret(JSON.stringify(value) ?? '', scope) ? walk(value, scope) : value) as typeof value
    },
    json: (json, scope = 'all') =>
      containsSecret(json, scope) ? JSON.stringify(walk(storedJson<unknown>(json), scope)) : json,
    stream: live => streamOf((held, piece) => step(held, piece, { live: live === true }), redacted),
    step,
    placeholders(text) {
      const names = new Set([...shape_names, ...values.map(({ name }) => name)])
      return [
        ...new Set(
          Array.from(text.matchAll(PLACEHOLDER), ([all, name = '']) => (names.has(name) ? all : '')),
        ),
      ].filter(all => all !== '')
    },
    names(text) {
      const spans = known(text)
      for (const { name } of spans) found(name)
      return [...new Set(spans.filter(span => !span.word).map(({ name }) => name))]
    },
  }
}

const mayContainShape = (text: string) => shape_marks.some(mark => text.includes(mark))

function* viewsOf(text: string): Generator<View> {
  let view = asItIs(text)
  yield joinedLines(view)
  if (hasNumbers(view)) yield joinedNumbers(view)
  if (hasQuoted(view)) yield joinedLines(unquoted(view))
  if (hasMarks(view)) {
    view = withoutMarks(view)
    yield view
  }
  for (let level = 0; level < LEVELS && hasEscapes(view); level++) {
    view = unescaped(view)
    if (hasMarks(view)) view = withoutMarks(view)
    yield view
  }
}

const spanOf = (view: View, { start, end }: Match) => ({ start: view.start(start), end: view.end(end) })

/** A name may contain a value: an existing placeholder stays as it is. */
function outsidePlaceholders<S extends Span>(text: string, spans: S[]): S[] {
  if (spans.length === 0 || !text.includes('[redacted:')) return spans
  return outside(
    spans,
    Array.from(text.matchAll(PLACEHOLDER), ({ index, 0: all }) => ({
      start: index,
      end: index + all.length,
    })),
  )
}

function replaced(text: string, spans: NamedSpan[]): string {
  if (spans.length === 0) return text
  let [clean, at] = ['', 0]
  for (const { start, end, name } of spans) {
    clean += text.slice(at, start) + placeholder(name)
    at = end
  }
  return clean + text.slice(at)
}

const COMMAND = /\x1b\[[0-?]*[ -/]*[@-~]/g
const COMMAND_CHARS = 40

/**
 * A terminal control sequence is shown whole: half of one would be waited for, and its last letter begins no
 * value in practice.
 */
function outsideCommand(text: string, at: number): number {
  const from = Math.max(0, at - COMMAND_CHARS)
  for (const { index, 0: command } of text.slice(from, at + COMMAND_CHARS).matchAll(COMMAND))
    if (from + index < at && at < from + index + command.length) return from + index + command.length
  return at
}

/**
 * Returns how much of the beginning of a text is the end of a form that began before it. Each form is read
 * once (Knuth, Morris and Pratt).
 */
function restOfForm(forms: readonly string[], text: string): number {
  const head = text.slice(0, Math.max(0, ...forms.map(form => form.length - 1)))
  /** For every prefix of `head`: the length of its longest proper prefix that is also its suffix. */
  const shorter = new Uint32Array(head.length + 1)
  const next = (length: number, char: number): number => {
    let agreed = length
    while (agreed > 0 && (agreed === head.length || head.charCodeAt(agreed) !== char))
      agreed = shorter[agreed] ?? 0
    return head.charCodeAt(agreed) === char ? agreed + 1 : 0
  }
  for (let at = 1; at < head.length; at++) shorter[at + 1] = next(shorter[at] ?? 0, head.charCodeAt(at))
  let longest = 0
  for (const form of forms) {
    let agreed = 0
    for (let at = 1; at < form.length; at++) agreed = next(agreed, form.charCodeAt(at))
    longest = Math.max(longest, agreed)
  }
  return longest > SHORTEST_REST ? longest : 0
}

function streamOf(step: Redactor['step'], redacted: (text: string) => string): TextStream {
  let held = nothing_held
  return {
    push(piece) {
      const next = step(held, piece)
      held = next.held
      return next.shown
    },
    end() {
      const rest = withoutShown(redacted(held.text), held)
      held = nothing_held
      return rest
    },
  }
}

/** Returns the redacted end of a stream without what is shown already. */
export const withoutShown = (clean: string, { text, shown }: HeldText): string =>
  clean.startsWith(text.slice(0, shown)) ? clean.slice(shown) : clean

/** A line that has ended, of which so little may begin a value that it can be shown. */
const SHORT_LINE_END = new RegExp(`^[^\\r\\n]{0,${SHORTEST_REST}}\\r?\\n$`)

function stepOf(
  find: (text: string) => NamedSpan[],
  finder: Finder,
  { text, shown }: HeldText,
  live: boolean,
): StreamStep {
  const read = halfEscape(text)
  let hold_from = Math.min(openShape(text), read)
  for (const view of viewsOf(text.slice(0, read)))
    hold_from = Math.min(hold_from, outsideCommand(text, view.start(finder.partialFrom(view.text))))
  const spans = find(text)
  for (const { start, end } of spans) if (start < hold_from && end > hold_from) hold_from = start
  if (text.length - hold_from > MAX_HELD_CHARS) hold_from = text.length
  const clean = replaced(
    text.slice(0, hold_from),
    spans
      .filter(({ end }) => end <= hold_from)
      .map(span => ({ ...span, start: Math.max(span.start, shown) })),
  )
  const held = text.slice(hold_from)
  const shown_to = Math.max(hold_from, shown, live && SHORT_LINE_END.test(held) ? text.length : 0)
  return {
    shown: (clean + text.slice(hold_from, shown_to)).slice(shown),
    held: { text: held, shown: shown_to - hold_from },
  }
}

function halfEscape(text: string): number {
  const from = Math.max(0, text.length - ESCAPE_CHARS)
  const half = HALF_ESCAPE.exec(text.slice(from))
  return half === null ? text.length : from + half.index
}
