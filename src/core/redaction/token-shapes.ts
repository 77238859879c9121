export type ShapePlace = { start: number; end: number; name: string }
type Shape = { name: string; marks: string[]; pattern: RegExp; part?: number; unless?: (found: string, match: RegExpMatchArray) => boolean }

const noDigit = (found: string) => !/\d/.test(found)
/** What stands in examples in the place of a password. */
const DUMMY = /^(?:[$%{<*]|pass(?:word|wd)?$|secret$|example|postgres(?:ql)?$|changeme|user(?:name)?$|xxx|your)/i

/**
 * Credentials that are known by how they look. Every pattern reads a text once: it begins with letters that do not stand inside what it goes on
 * with, or goes on for a bounded length.
 */
const shapes: Shape[] = [
  { name: 'github_token', marks: ['ghp_', 'gho_', 'ghu_', 'ghs_', 'ghr_'], pattern: /gh[pousr]_[A-Za-z0-9]{36,255}/g },
  { name: 'github_token', marks: ['github_pat_'], pattern: /github_pat_[A-Za-z0-9_]{22,255}/g },
  { name: 'aws_access_key', marks: ['AKIA', 'ASIA'], pattern: /(?<![A-Za-z0-9])A[KS]IA[A-Z0-9]{16}(?![A-Za-z0-9])/g },
  { name: 'slack_token', marks: ['xox'], pattern: /(?<![A-Za-z0-9])xox[abeoprs]-[A-Za-z0-9-]{10,250}/g, unless: noDigit },
  { name: 'slack_token', marks: ['xapp-'], pattern: /(?<![A-Za-z0-9])xapp-[A-Za-z0-9-]{20,250}/g, unless: noDigit },
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
    pattern: /(?<![A-Za-z0-9_-])eyJ[A-Za-z0-9_-]{10,8192}\.eyJ[A-Za-z0-9_-]{10,8192}\.[A-Za-z0-9_-]{10,8192}/g,
  },
  {
    name: 'url_password',
    marks: ['://'],
    pattern: /:\/\/[^\s/:@"'<>\\]{0,128}:([^\s/@"'<>\\]{6,256})@/g,
    part: 1,
    unless: (found, [all]) => DUMMY.test(found) || all.startsWith(`://${found}:`),
  },
]

/** A key's head, and its lines for as long as they look like such; ends of lines may be escaped, and marked as a diff does. */
const KEY_HEAD = /-----BEGIN [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/g
const KEY_BODY = /(?:(?:[\r\n]|\\r|\\n)+[ \t+-]?[ \t]{0,40}(?:[A-Za-z0-9-]{2,40}: [^\r\n\\]{0,200}|[A-Za-z0-9+/=]{1,200}))+/y
const KEY_END = /(?:\s|\\r|\\n|\+){0,40}-----END [A-Z0-9 ]{0,40}PRIVATE KEY(?: BLOCK)?-----/y
const KEY_MARK = 'PRIVATE KEY'
const MOST_KEY = 65_536

/** Letters that a credential begins with, for those who get a text in pieces. */
export const shape_marks = [...shapes.flatMap(shape => shape.marks), '-----BEGIN ']

export const shape_names = new Set([...shapes.map(({ name }) => name), 'private_key'])

export function findShapes(text: string): ShapePlace[] {
  const found: ShapePlace[] = []
  for (const { name, marks, pattern, part = 0, unless } of shapes) {
    if (!marks.some(mark => text.includes(mark))) continue
    for (const match of text.matchAll(pattern)) {
      const secret = match[part] ?? ''
      if (unless?.(secret, match)) continue
      // The part is the last thing before one character.
      const end = match.index + match[0].length - (part === 0 ? 0 : 1)
      found.push({ start: end - secret.length, end, name })
    }
  }
  if (text.includes(KEY_MARK)) found.push(...findKeys(text))
  return found
}

function findKeys(text: string): ShapePlace[] {
  const found: ShapePlace[] = []
  for (const { index, 0: head } of text.matchAll(KEY_HEAD)) {
    const after = index + head.length
    // A head among the lines of a key that was found: its own lines are the same ones, and reading them for every head would never end.
    if (after <= (found.at(-1)?.end ?? 0)) continue
    const body = stick(KEY_BODY, text, after)
    if (body === after || body - after < 40) continue
    found.push({ start: index, end: stick(KEY_END, text, body), name: 'private_key' })
  }
  return found
}

/** Where `pattern` ends that begins at `at`; `at` when it does not. */
function stick(pattern: RegExp, text: string, at: number): number {
  pattern.lastIndex = at
  return pattern.test(text) ? pattern.lastIndex : at
}

const OPEN = new RegExp(`(?:${[...new Set(shapes.flatMap(({ marks }) => marks))].map(escaped).join('|')})[^\\s"'<>]{0,600}$`)
const OPEN_CHARS = 1_024
const beginnings = [...new Set(shape_marks.flatMap(mark => Array.from(mark.slice(1), (_, i) => mark.slice(0, i + 1))))].sort(
  (a, b) => b.length - a.length,
)

/** Where something begins at the end of a text that may become a credential; its length when nothing does. */
export function openShape(text: string): number {
  const from = Math.max(0, text.length - OPEN_CHARS)
  const open = OPEN.exec(text.slice(from))
  const begun = beginnings.find(beginning => text.endsWith(beginning))?.length ?? 0
  const at = open === null ? text.length - begun : from + open.index
  const key = text.lastIndexOf('-----BEGIN ')
  if (key < 0 || text.length - key > MOST_KEY) return at
  const end = text.indexOf('-----END ', key)
  if (end >= 0 && text.indexOf('-----', end + 9) >= 0) return at
  const ended = text.indexOf('-----', key + 11)
  const says = text.slice(key, ended < 0 ? undefined : ended)
  return ended < 0 ? (says.length <= 80 && !says.includes('\n') ? key : at) : says.includes(KEY_MARK) ? key : at
}

function escaped(text: string): string {
  return text.replace(/[.*+?^${}()|[\]\\/-]/g, '\\$&')
}
