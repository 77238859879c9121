import { extra_shapes } from './extra-shapes.ts'
import { secretlint_shapes } from './secretlint-shapes.ts'
import type { Shape } from './shape.ts'

type ShapeMatch = { start: number; end: number; name: string }

const noDigit = (found: string) => !/\d/.test(found)
/** Placeholders for a password in examples. */
const DUMMY =
  /^(?:[$%{<*]|pass(?:word|wd)?$|secret$|example|postgres(?:ql)?$|changeme|user(?:name)?$|xxx|your)/i

/**
 * Credentials that are recognized by their shape. Every pattern reads a text once: it begins with letters
 * that its rest does not contain, or has a bounded length.
 */
const shapes: Shape[] = [
  {
    name: 'github_token',
    marks: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'],
    pattern: /gh[pousr]_[A-Za-z0-9]{36,255}/g,
  },
  { name: 'github_token', marks: ['github_pat_'], pattern: /github_pat_[A-Za-z0-9_]{22,255}/g },
  {
    name: 'aws_access_key',
    marks: ['AKIA', 'ASIA'],
    pattern: /(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])/g,
  },
  {
    name: 'slack_token',
    marks: ['xox'],
    pattern: /(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,250}/g,
    unless: noDigit,
  },
  {
    name: 'slack_token',
    marks: ['xapp-'],
    pattern: /(?<![A-Za-z0-9])xapp-[A-Za-z0-9-]{20,250}/g,
    unless: noDigit,
  },
  {
    name: 'slack_webhook',
    marks: ['hooks.slack.com/'],
    pattern: /hooks\.slack\.com\/(?:services|workflows|triggers)\/[A-Za-z0-9/_+-]{20,250}/g,
  },
  {
    name: 'api_key',
    marks: ['sk-', 'sk_live_', 'rk_live_'],
    pattern: /(?<![A-Za-z0-9_-])(?:sk-|[sr]k_live_)[A-Za-z0-9_-]{20,250}/g,
    unless: noDigit,
  },
  { name: 'google_api_key', marks: ['AIza'], pattern: /AIza[A-Za-z0-9_-]{35}/g },
  { name: 'gitlab_token', marks: ['glpat-'], pattern: /glpat-[A-Za-z0-9_-]{20,250}/g },
  { name: 'npm_token', marks: ['npm_'], pattern: /npm_[A-Za-z0-9]{36}(?![A-Za-z0-9])/g },
  { name: 'agentrun_token', marks: ['arun_'], pattern: /arun_[a-z]_[A-Za-z0-9]{38}/g },
  {
    name: 'jwt',
    marks: ['eyJ'],
    pattern:
      /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,8192}\.eyJ[A-Za-z0-9_-]{10,8192}\.[A-Za-z0-9_-]{10,8192}/g,
  },
  {
    name: 'url_password',
    marks: ['://'],
    pattern: /:\/\/[^\s/:@"'<>\\]{0,128}:([^\s/@"'<>\\]{6,256})@/g,
    part: 1,
    unless: (found, [all]) => DUMMY.test(found) || all.startsWith(`://${found}:`),
  },
  ...extra_shapes,
  ...secretlint_shapes,
]

/**
 * The header of a private key, and its lines as long as they are base64; line ends may be escaped, and lines
 * may carry diff markers.
 */
const KEY_HEAD = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const KEY_BODY =
  /(?:(?:[\r\n]|\\r|\\n)+[ \t+-]?[ \t]{0,40}(?:[A-Za-z0-9-]{2,40}: [^\r\n\\]{0,200}|[A-Za-z0-9+/=]{1,200}))+/y
const KEY_END = /(?:\s|\\r|\\n|\+){0,40}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y
const KEY_MARK = 'PRIVATE KEY'
const MAX_KEY = 65_536

/** Prefixes of credentials, for callers that receive a text in pieces. */
export const shape_marks = [...shapes.flatMap(shape => shape.marks), '-----BEGIN ']

export const shape_names = new Set([...shapes.map(({ name }) => name), 'private_key'])

/**
 * Returns the credentials of known shapes in a text, by their positions in UTF-16 code units. Matches may
 * overlap.
 */
export function findShapes(text: string): ShapeMatch[] {
  const found: ShapeMatch[] = []
  for (const { name, marks, pattern, part = 0, unless } of shapes) {
    if (!marks.some(mark => text.includes(mark))) continue
    for (const match of text.matchAll(pattern)) {
      const secret = match[part] ?? ''
      if (unless?.(secret, match)) continue
      // The group ends one character before the end of the match.
      const end = match.index + match[0].length - (part === 0 ? 0 : 1)
      found.push({ start: end - secret.length, end, name })
    }
  }
  if (text.includes(KEY_MARK)) found.push(...findKeys(text))
  return found
}

function findKeys(text: string): ShapeMatch[] {
  const found: ShapeMatch[] = []
  for (const { index, 0: head } of text.matchAll(KEY_HEAD)) {
    const after = index + head.length
    // A header inside a key that was already found: its lines are the same ones, and reading them for every
    // header would take quadratic time.
    if (after <= (found.at(-1)?.end ?? 0)) continue
    const body = stick(KEY_BODY, text, after)
    if (body === after || body - after < 40) continue
    found.push({ start: index, end: stick(KEY_END, text, body), name: 'private_key' })
  }
  return found
}

/** Returns the end of a match of `pattern` that begins at `at`; `at` when there is none. */
function stick(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

const OPEN = new RegExp(
  `(?:${[...new Set(shapes.flatMap(({ marks }) => marks))].map(escaped).join('|')})[^\\s"'<>]{0,600}$`,
)
const OPEN_CHARS = 1_024
const beginnings = [
  ...new Set(shape_marks.flatMap(mark => Array.from(mark.slice(1), (_, i) => mark.slice(0, i + 1)))),
].sort((a, b) => b.length - a.length)

/**
 * Returns the position from which the end of a text may become a credential; its length when there is none.
 */
export function openShape(text: string): number {
  const from = Math.max(0, text.length - OPEN_CHARS)
  const open = OPEN.exec(text.slice(from))
  const partial = beginnings.find(beginning => text.endsWith(beginning))?.length ?? 0
  const at = open === null ? text.length - partial : from + open.index
  const key = text.lastIndexOf('-----BEGIN ')
  if (key < 0 || text.length - key > MAX_KEY) return at
  const end = text.indexOf('-----END ', key)
  if (end >= 0 && text.indexOf('-----', end + 9) >= 0) return at
  const ended = text.indexOf('-----', key + 11)
  const key_text = text.slice(key, ended < 0 ? undefined : ended)
  return ended < 0
    ? key_text.length <= 80 && !key_text.includes('\n')
      ? key
      : at
    : key_text.includes(KEY_MARK)
      ? key
      : at
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}
