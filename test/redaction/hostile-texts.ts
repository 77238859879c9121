import { type Node, treeOf } from './regexp-steps.ts'

/** Pseudo-random numbers that are the same each time: from 0 to below `under`. */
export type Pick = (under: number) => number

export function pickFrom(seed: number): Pick {
  let state = seed >>> 0
  return under => {
    state = (Math.imul(state, 1_664_525) + 1_013_904_223) >>> 0
    return Math.floor((state / 2 ** 32) * under)
  }
}

const CHARS = [
  ...'a0Z-_./+= :;,@"\'<>[]{}()%&#\\*$\n\r\t\x1b\x08\0\u00ad\u200b\u2060\ufeff\xe2\x80\x81\x8b\xa0\xef\xbb\xbfbdefgknopqrstuxyABCEKP19K',
]
/** Of an unbounded loop, as many iterations. */
const MOST_TURNS = 40

/** A text that a pattern finds, if what is around it lets it. */
function sampleOf(node: Node, pick: Pick): string {
  if (node.kind === 'all') return node.parts.map(part => sampleOf(part, pick)).join('')
  if (node.kind === 'any') return sampleOf(node.options[pick(node.options.length)] ?? node, pick)
  if (node.kind === 'repeat') {
    const most = Math.min(node.max, node.min + MOST_TURNS)
    const turns = [node.min, Math.min(most, node.min + 1), most][pick(3)] ?? node.min
    return Array.from({ length: turns }, () => sampleOf(node.of, pick)).join('')
  }
  if (node.kind !== 'char') return ''
  if (node.source.length === 1) return node.source
  const from = pick(CHARS.length)
  return [...CHARS.slice(from), ...CHARS.slice(0, from)].find(char => node.accepts(char)) ?? ''
}

/**
 * Units that are repeated: what a pattern finds, what it nearly finds, and what it begins to read and never
 * ends.
 */
export function unitsOf(patterns: readonly RegExp[], pick: Pick, each: number): string[] {
  const units = new Set<string>()
  const trees = patterns.map(treeOf)
  const sample = (tree: Node | undefined) => (tree ? sampleOf(tree, pick) : '')
  for (const tree of trees)
    for (let n = 0; n < each; n++) {
      const whole = sample(tree)
      const cut = whole.slice(0, 1 + pick(whole.length))
      const other = sample(trees[pick(trees.length)])
      for (const unit of [
        whole,
        `${whole}\n`,
        `x: ${whole}\n`,
        cut,
        `${cut} `,
        cut + other,
        cut.slice(-1),
        `${other.slice(0, 3)}${cut}`,
      ])
        if (unit !== '') units.add(unit)
    }
  return [...units]
}

/** Whole units, so that twice the length is twice the same. */
export const repeated = (unit: string, times: number): string => unit.repeat(times)
/** One beginning, and then what never comes to an end. */
export const begunWith = (unit: string, times: number): string =>
  unit + unit.slice(-1).repeat(times * unit.length)
