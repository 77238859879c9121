import { CharSet, isDisjointWith, JS, NFA, type NoParent } from 'refa'
import { analyse } from 'scslre'

type Element = NoParent<import('refa').Element>
type Quantifier = NoParent<import('refa').Quantifier>
type Concatenation = NoParent<import('refa').Concatenation>

/**
 * A repetition that may have matched before the current element, or the search for a start. `between`: what
 * follows it up to here.
 */
type Repetition = { name: string; chars: CharSet; body: Element[][]; between: Element[] }

/** A quantifier with more repetitions counts as unbounded. */
const MAX_BOUNDED = 2_000

/**
 * Returns why matching may take more than linear time, or null. scslre finds repetitions that share one
 * character, as in `\s*\s*` and the unanchored `/+$`. `sharedWords` adds those that share a longer text, as
 * in `error .*failed`: from each `error` the rest of a line of errors is read. It also finds loops whose
 * alternatives match the same text, as in `(?:a|a)*`. Conservative: groups count by the set of their
 * characters.
 */
export function superLinear(source: string, flags: string): string | null {
  const [report] = analyse(
    { source, flags },
    { reportTypes: { Move: true, Self: true, Trade: true } },
  ).reports
  if (report !== undefined) return `${report.type.toLowerCase()} of ${JSON.stringify(report.character.pick)}`
  return sharedWords(source, flags)
}

function sharedWords(source: string, flags: string): string | null {
  const parser = JS.Parser.fromLiteral({ source, flags })
  const { expression, maxCharacter } = parser.parse({ assertions: 'parse', backreferences: 'unknown' })
  const walk = new Walk(source, maxCharacter)
  const search = { name: 'the search', chars: CharSet.all(maxCharacter), body: [], between: [] }
  for (const { elements } of expression.alternatives)
    walk.collect(elements, flags.includes('y') ? [] : [search], [])
  return walk.problem
}

/** Walks a pattern from left to right with the repetitions that an element follows. */
class Walk {
  problem: string | null = null
  readonly #source: string
  readonly #all: CharSet
  readonly #none: CharSet

  constructor(source: string, max_character: number) {
    this.#source = source
    this.#all = CharSet.all(max_character)
    this.#none = CharSet.empty(max_character)
  }

  /**
   * Returns the repetitions within `elements`, each with what follows it there. `after`: the elements that
   * follow all of these.
   */
  collect(elements: Element[], before: Repetition[], after: Element[]): Repetition[] {
    let inside: Repetition[] = []
    let outside = before
    for (const [i, element] of elements.entries()) {
      const rest = [...elements.slice(i + 1), ...after]
      const opened = this.#enter(element, [...outside, ...inside], rest)
      const passed = (all: Repetition[]) => all.map(one => ({ ...one, between: [...one.between, element] }))
      outside = passed(outside)
      inside = [...passed(inside), ...opened]
    }
    return inside
  }

  #enter(element: Element, before: Repetition[], rest: Element[]): Repetition[] {
    if (element.type === 'CharacterClass' || element.type === 'Unknown') return []
    const bodies = element.alternatives.map(({ elements }) => elements)
    if (element.type === 'Assertion') {
      const start = element.kind === 'ahead' ? before : []
      for (const body of bodies)
        if (body.some(({ type }) => type === 'Quantifier')) this.collect(body, start, [UNKNOWN])
      return []
    }
    const repeated = element.type === 'Quantifier' && element.max > 1
    const opened = bodies
      .filter(body => body.length > 1 || body[0]?.type !== 'CharacterClass')
      .flatMap(body => this.collect(repeated ? [...body, ...body] : body, before, rest))
    if (element.type !== 'Quantifier' || element.max <= MAX_BOUNDED) return opened
    this.#check(element, before, rest)
    return [...opened, { name: this.#text(element), chars: this.#chars(element), body: bodies, between: [] }]
  }

  /** Two repetitions that can divide the same text in many ways, before something that may not follow. */
  #check(element: Quantifier, before: Repetition[], rest: Element[]): void {
    const chars = this.#chars(element)
    if (!this.#mayFail(chars, rest)) return
    if (isAmbiguous(element, this.#all.maximum))
      this.problem ??= `alternatives of ${this.#text(element)} match the same text`
    for (const { name, chars: earlier, body, between } of before) {
      const both = earlier.intersect(chars)
      const fits = (all: readonly Element[]) => all.every(one => canMatch(one, both))
      const loops = (bodies: Element[][]) => bodies.length === 0 || bodies.some(fits)
      if (
        both.isEmpty ||
        !fits(between) ||
        !loops(body) ||
        !loops(element.alternatives.map(({ elements }) => elements))
      )
        continue
      this.problem ??= `${name} and ${this.#text(element)} share a text`
    }
  }

  #mayFail(chars: CharSet, rest: Element[]): boolean {
    const matchesEnd = (element: Element) =>
      isEnd(element) !== null && (isEnd(element) ?? this.#none).isSubsetOf(chars)
    const holds = (element: Element): boolean =>
      canBeEmpty(element) ||
      matchesEnd(element) ||
      (element.type === 'Alternation' &&
        element.alternatives.some(({ elements }) => elements.every(matchesEnd)))
    return !rest.every(holds)
  }

  #chars(element: Element): CharSet {
    if (element.type === 'CharacterClass') return element.characters
    if (element.type === 'Unknown') return this.#all
    if (element.type === 'Assertion') return this.#none
    const all = element.alternatives.flatMap(({ elements }) => elements)
    return all.reduce((chars, one) => chars.union(this.#chars(one)), this.#none)
  }

  #text = ({ source }: Quantifier) => (source ? this.#source.slice(source.start, source.end) : 'a repetition')
}

/** Whether a text of the loop can begin with either of two alternatives and continue. */
function isAmbiguous(loop: Quantifier, maxCharacter: number): boolean {
  const [first] = loop.alternatives
  const [only, ...others] = first?.elements ?? []
  const bodies =
    loop.alternatives.length === 1 && others.length === 0 && only?.type === 'Alternation'
      ? only.alternatives
      : loop.alternatives
  const automata = bodies.map((body): NFA => {
    const path: Concatenation = {
      type: 'Concatenation',
      elements: [...body.elements, { ...loop, min: 0, max: Number.POSITIVE_INFINITY }],
    }
    return NFA.fromRegex([path], { maxCharacter }, { assertions: 'ignore', unknowns: 'disable' })
  })
  return automata.some((one, i) => automata.slice(i + 1).some(other => !isDisjointWith(one, other)))
}

const UNKNOWN: Element = { type: 'Unknown', id: 'what follows' }

/** Returns the characters that an assertion forbids on one side of it; null when it is not so simple. */
function forbidden(element: Element, kind: 'ahead' | 'behind'): CharSet | null {
  if (element.type !== 'Assertion' || element.kind !== kind || !element.negate) return null
  const [body, ...others] = element.alternatives
  const [only, ...more] = body?.elements ?? []
  return only?.type === 'CharacterClass' && others.length + more.length === 0 ? only.characters : null
}

const isEnd = (element: Element) => forbidden(element, 'ahead')

/**
 * Whether a text of these characters alone matches. Before `^`, and after a lookbehind, another character is
 * needed.
 */
function canMatch(element: Element, chars: CharSet): boolean {
  if (element.type === 'CharacterClass') return !element.characters.isDisjointWith(chars)
  if (element.type === 'Assertion')
    return !(forbidden(element, 'behind')?.negate().isDisjointWith(chars) ?? false)
  if (element.type === 'Unknown' || (element.type === 'Quantifier' && element.min === 0)) return true
  return element.alternatives.some(({ elements }) => elements.every(one => canMatch(one, chars)))
}

function canBeEmpty(element: Element): boolean {
  if (element.type !== 'Quantifier' && element.type !== 'Alternation') return false
  return (
    (element.type === 'Quantifier' && element.min === 0) ||
    element.alternatives.some(({ elements }) => elements.every(canBeEmpty))
  )
}
