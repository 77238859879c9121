import { findSequence } from './find-sequence.ts'
import { plainMarks } from './plain-marks.ts'

/**
 * Lines of a file that come closest to wanted ones. `first`: from 0. `at`: the first of the wanted lines that
 * differs, and how.
 */
type Nearest = { first: number; count: number; at: number; difference: string }

/** Lines of a file that are compared, and of those that are wanted. */
const MAX_FILE_LINES = 500_000
const MAX_WANTED_LINES = 200
/** Files with more lines are compared by equal lines only. */
const MAX_COMPARED_LINES = 20_000
const MAX_COMPARED_CHARS = 400
const MIN_SIMILARITY = 0.6
/** How many lines with the same text are considered. */
const MAX_SAME_LINES = 100

/** Returns the lines of a file that resemble the wanted ones most, or null. */
export function nearestLines(file: string[], wanted: string[]): Nearest | null {
  const compared = wanted.slice(0, MAX_WANTED_LINES)
  const first = alignedStart(file.slice(0, MAX_FILE_LINES), compared) ?? similarStart(file, compared)
  if (first === null) return null
  const count = Math.min(wanted.length, file.length - first)
  const differs = wanted.findIndex((line, i) => !has(file[first + i], line))
  const at = Math.max(differs, 0)
  return { first, count, at, difference: differenceOf(file[first + at], wanted[at] ?? '') }
}

/** Whether a line exists and has this text. */
const has = (line: string | undefined, text: string) =>
  line !== undefined && (text === '' || findSequence(line, text) !== null)

/**
 * Where most of the wanted lines are, apart from white space, punctuation that looks alike, escapes and case.
 */
function alignedStart(file: string[], wanted: string[]): number | null {
  const positions = new Map<string, number[]>()
  for (const [i, line] of file.entries()) {
    const key = loose(line)
    const known = positions.get(key)
    if (known === undefined) positions.set(key, [i])
    else if (known.length < MAX_SAME_LINES) known.push(i)
  }
  const votes = new Map<number, number>()
  for (const [i, line] of wanted.entries()) {
    const key = loose(line)
    if (key === '') continue
    for (const position of positions.get(key) ?? [])
      if (position >= i) votes.set(position - i, (votes.get(position - i) ?? 0) + key.length)
  }
  let best: number | null = null
  for (const [start, vote] of votes) if (best === null || vote > (votes.get(best) ?? 0)) best = start
  return best
}

/**
 * Where the longest of the wanted lines is most likely: the share of its pairs of characters that a line has.
 */
function similarStart(file: string[], wanted: string[]): number | null {
  if (file.length > MAX_COMPARED_LINES) return null
  const lengths = wanted.map(line => loose(line).length)
  const longest = lengths.indexOf(Math.max(...lengths))
  const pairs = pairsOf(wanted[longest] ?? '')
  if (pairs.size < 2) return null
  let [best, best_share] = [-1, MIN_SIMILARITY]
  for (const [i, line] of file.entries()) {
    const found = pairsOf(line)
    let shared = 0
    for (const pair of pairs) if (found.has(pair)) shared++
    // Of two lines that have as much of it the shorter one is nearer.
    const share = shared / pairs.size - found.size / 1e6
    if (share > best_share) [best, best_share] = [i, share]
  }
  return best < longest ? null : best - longest
}

function pairsOf(line: string): Set<string> {
  const text = loose(line.slice(0, MAX_COMPARED_CHARS))
  const pairs = new Set<string>()
  for (let i = 0; i + 1 < text.length; i++) pairs.add(text.slice(i, i + 2))
  return pairs
}

const withoutSpace = (text: string) => text.replace(/[\s\u200b\ufeff]+/g, '')
const withoutQuotes = (text: string) => plainMarks(text).replace(/["`´]/g, "'")
const unescaped = (text: string) => text.replace(/\\([\\"'`$/])/g, '$1').replace(/\\t/g, '\t')
const loose = (text: string) => withoutSpace(withoutQuotes(unescaped(text))).toLowerCase()

/** What makes two lines differ, the least important first. */
const KINDS: [string, (text: string) => string][] = [
  ['white space', withoutSpace],
  ['quotes, dashes or other characters that look alike', text => withoutSpace(withoutQuotes(text))],
  ['escapes', text => withoutSpace(withoutQuotes(unescaped(text)))],
  ['upper and lower case', loose],
]

function differenceOf(found: string | undefined, wanted: string): string {
  if (found === undefined) return 'the file ends before it'
  const kind = KINDS.find(([, normalized]) => has(normalized(found), normalized(wanted)))?.[0] ?? 'the text'
  if (kind !== 'white space') return `it differs in ${kind}`
  return `it differs in white space (· is a space, → a tab): the file has \`${visible(found)}\`, not \`${visible(wanted)}\``
}

const visible = (line: string) =>
  line
    .slice(0, MAX_COMPARED_CHARS)
    .replaceAll(' ', '·')
    .replaceAll('\t', '→')
    .replaceAll('\r', '␍')
    .replaceAll('\u00a0', '⍽')
