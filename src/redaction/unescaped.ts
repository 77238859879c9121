/**
 * A decoded text with the positions of its characters in the original: `start` of the first one, `end` after
 * the last one.
 */
export type View = { text: string; start(at: number): number; end(at: number): number }

const LINE = /[\r\n]+[ \t]*/g
/**
 * Colours and other terminal control sequences, overstruck characters and invisible characters: also in UTF-8
 * read as bytes, and in JSON.
 */
const MARK =
  /(?:\x1b|\\u001b|\\x1b|\\033|\\e)\[[0-?]*[ -/]*[@-~]|(?:[\xc2-\xf4][\x80-\xbf]{1,3}|[^\n])\x08|(?:\\[^\n]|[\xc2-\xf4][\x80-\xbf]{1,3}|[^\n])\\b|\\\\|[\0\u00ad\u200b-\u200f\u2060\ufeff]|\\u0000|\xc2\xad|\xe2\x80[\x8b-\x8f]|\xe2\x81\xa0|\xef\xbb\xbf|[\r\n]+[ \t]*/g
/** Skipped: the character after it begins no escape. */
const ESCAPED = '\\\\'
/** Searched one by one: a text has millions of characters, and rarely one of these. */
const BEGINNINGS = [
  ...['\x1b', '\\u001b', '\\x1b', '\\033', '\\e[', '\x08', '\\b', '\0', '\\u0000'],
  ...[
    '\u00ad',
    '\u200b',
    '\u200c',
    '\u200d',
    '\u200e',
    '\u200f',
    '\u2060',
    '\ufeff',
    '\xc2\xad',
    '\xe2\x80',
    '\xe2\x81\xa0',
    '\xef\xbb\xbf',
  ],
]
/** JSON, C and shell; URL; HTML. */
const ESCAPE =
  /[\r\n]+[ \t]*|\\(?:u[0-9a-fA-F]{4}|x[0-9a-fA-F]{2}|[0-7]{3}|[\s\S])|%[0-9a-fA-F]{2}|&(?:amp|lt|gt|quot|apos|#\d{1,7}|#x[0-9a-fA-F]{1,6});/g
const HAS_ESCAPE = /\\|%[0-9a-fA-F]{2}|&[a-z#]/
/** Quoted-printable (RFC 2045 §6.7): a byte, or a soft line end. */
const QUOTED = /=(?:[0-9A-Fa-f]{2}|[ \t]{0,8}(?:\r?\n|\\n|\\r\\n))/g
const HAS_QUOTED = new RegExp(QUOTED.source)
/** Separators of decimal numbers in a list, or on lines. */
const SEPARATOR = /(?<=\d)[\s,]{1,8}(?=\d|$)/g
const HAS_NUMBERS = /\d[\s,]{1,8}(?:\d|$)/
const named: Record<string, string> = { '&amp;': '&', '&lt;': '<', '&gt;': '>', '&quot;': '"', '&apos;': "'" }
const letters: Record<string, string> = { n: '', r: '', '\n': '', t: '\t', b: '\b', f: '\f' }

export const asItIs = (text: string): View => ({ text, start: at => at, end: at => at })

/** Returns the view without line ends and the indentation after them: encoders break lines anywhere. */
export const joinedLines = (view: View): View =>
  /[\r\n]/.test(view.text) ? changed(view, LINE, () => '') : view

export const hasMarks = ({ text }: View): boolean => BEGINNINGS.some(mark => text.includes(mark))

/** Returns the view as a terminal shows it, with lines joined. */
export const withoutMarks = (view: View): View =>
  changed(view, MARK, found => (found === ESCAPED ? found : ''))

export const hasEscapes = ({ text }: View): boolean => HAS_ESCAPE.test(text)

/** Returns the view with one level of escapes decoded, of any kind, and lines joined. */
export const unescaped = (view: View): View => changed(view, ESCAPE, read)

export const hasQuoted = ({ text }: View): boolean => HAS_QUOTED.test(text)

/** Returns the view with quoted-printable decoded. */
export const unquoted = (view: View): View =>
  changed(view, QUOTED, ([, ...hex]) =>
    /[0-9A-Fa-f]/.test(hex[0] ?? '') ? String.fromCharCode(Number.parseInt(hex.join(''), 16)) : '',
  )

export const hasNumbers = ({ text }: View): boolean => HAS_NUMBERS.test(text)

/** Returns the view with lists of decimal numbers joined. */
export const joinedNumbers = (view: View): View => changed(view, SEPARATOR, () => '')

function read(written: string): string {
  const [first, second = ''] = written
  if (first === '\\') {
    if ((second === 'u' || second === 'x') && written.length > 2)
      return String.fromCharCode(Number.parseInt(written.slice(2), 16))
    if (written.length === 4) return String.fromCharCode(Number.parseInt(written.slice(1), 8))
    return letters[second] ?? second
  }
  if (first === '%') return String.fromCharCode(Number.parseInt(written.slice(1), 16))
  if (first !== '&') return ''
  if (second !== '#') return named[written] ?? written
  const code = written[2] === 'x' ? Number.parseInt(written.slice(3), 16) : Number(written.slice(2, -1))
  return code <= 0x10ffff ? String.fromCodePoint(code) : ''
}

function changed(view: View, pattern: RegExp, to: (found: string) => string): View {
  const { text } = view
  const pieces: string[] = []
  /**
   * For each piece: its start in the result, its start and end in the original, and whether it is unchanged.
   */
  const here: number[] = []
  const there: number[] = []
  let [at, length] = [0, 0]
  const add = (piece: string, from: number) => {
    here.push(length)
    there.push(from)
    pieces.push(piece)
    length += piece.length
  }
  for (const match of text.matchAll(pattern)) {
    if (match.index > at) add(text.slice(at, match.index), at)
    add(to(match[0]), match.index)
    at = match.index + match[0].length
  }
  add(text.slice(at), at)
  const pieceOf = (position: number) => {
    let [low, high] = [0, here.length - 1]
    while (low < high) {
      const middle = (low + high + 1) >> 1
      if ((here[middle] ?? 0) <= position) low = middle
      else high = middle - 1
    }
    return low
  }
  const startOf = (position: number) => {
    const piece = pieceOf(position)
    const inside = position - (here[piece] ?? 0)
    const from = there[piece] ?? 0
    const same = (there[piece + 1] ?? text.length) - from === pieces[piece]?.length
    return same ? from + inside : from
  }
  const endOf = (position: number) => {
    const piece = pieceOf(position - 1)
    const from = there[piece] ?? 0
    const to = there[piece + 1] ?? text.length
    return to - from === pieces[piece]?.length ? from + position - (here[piece] ?? 0) : to
  }
  return {
    text: pieces.join(''),
    start: position => view.start(position >= length ? text.length : startOf(position)),
    end: position => view.end(position === 0 ? 0 : endOf(position)),
  }
}
