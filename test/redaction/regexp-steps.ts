/**
 * Regular expressions as a backtracking engine runs them, with every step counted: what a duration would only
 * suggest. It knows what the patterns of the service use, and throws on anything else. No captures, no back
 * references; a lookbehind is one character.
 */
export type Node =
  | { kind: 'char'; accepts(char: string): boolean; source: string }
  | { kind: 'all'; parts: Node[] }
  | { kind: 'any'; options: Node[] }
  | { kind: 'repeat'; of: Node; min: number; max: number; lazy: boolean }
  | { kind: 'look'; of: Node; ahead: boolean; wanted: boolean }
  | { kind: 'start' | 'end' }

type Step =
  | { do: 'char'; accepts(char: string): boolean }
  | { do: 'split'; first: number; second: number }
  | { do: 'jump'; to: number }
  | { do: 'look'; program: Step[]; node: Extract<Node, { kind: 'look' }> }
  | { do: 'start' | 'end' | 'match' }

const programs = new Map<string, Step[]>()
const trees = new Map<string, Node>()
const keyOf = ({ source, flags }: RegExp) => `/${source}/${flags}`

/**
 * The first match from `from` on, or at it for a sticky pattern, and the steps that were needed to find it.
 */
export function countedMatch(
  pattern: RegExp,
  text: string,
  from: number,
): { start: number; end: number; steps: number } {
  const key = keyOf(pattern)
  const program = programs.get(key) ?? compiled(treeOf(pattern))
  programs.set(key, program)
  let steps = 0
  for (let start = from; start <= text.length; start++) {
    const run = runAt(program, text, start)
    steps += run.steps
    if (run.end >= 0) return { start, end: run.end, steps }
    if (pattern.sticky) break
  }
  return { start: -1, end: -1, steps }
}

export function treeOf(pattern: RegExp): Node {
  const key = keyOf(pattern)
  const tree = trees.get(key) ?? new Parser(pattern).parse()
  trees.set(key, tree)
  return tree
}

function runAt(program: Step[], text: string, start: number): { end: number; steps: number } {
  const waiting: number[] = [0, start]
  let steps = 0
  while (waiting.length > 0) {
    let at = waiting.pop() ?? 0
    let pc = waiting.pop() ?? 0
    for (let alive = true; alive; ) {
      const step = program[pc++]
      if (!step) throw new Error('a program without an end')
      steps++
      if (step.do === 'match') return { end: at, steps }
      if (step.do === 'jump') pc = step.to
      else if (step.do === 'split') {
        waiting.push(step.second, at)
        pc = step.first
      } else if (step.do === 'char') {
        alive = at < text.length && step.accepts(text[at] ?? '')
        at++
      } else if (step.do === 'look') {
        const { ahead, wanted } = step.node
        const run = runAt(step.program, ahead ? text : text.slice(at - 1, at), ahead ? at : 0)
        steps += run.steps
        alive = run.end >= 0 === wanted
      } else alive = step.do === 'start' ? at === 0 : at === text.length
    }
  }
  return { end: -1, steps }
}

function compiled(node: Node): Step[] {
  const program: Step[] = []
  emit(node, program)
  program.push({ do: 'match' })
  return program
}

function emit(node: Node, out: Step[]): void {
  if (node.kind === 'char') out.push({ do: 'char', accepts: node.accepts })
  else if (node.kind === 'all') for (const part of node.parts) emit(part, out)
  else if (node.kind === 'any') emitOptions(node.options, out)
  else if (node.kind === 'repeat') emitRepeat(node, out)
  else if (node.kind === 'look') out.push({ do: 'look', program: compiled(node.of), node })
  else out.push({ do: node.kind })
}

function emitOptions(options: Node[], out: Step[]): void {
  const jumps: { do: 'jump'; to: number }[] = []
  for (const [i, option] of options.entries()) {
    if (i === options.length - 1) {
      emit(option, out)
      break
    }
    const split = { do: 'split' as const, first: out.length + 1, second: 0 }
    const jump = { do: 'jump' as const, to: 0 }
    out.push(split)
    emit(option, out)
    out.push(jump)
    jumps.push(jump)
    split.second = out.length
  }
  for (const jump of jumps) jump.to = out.length
}

function emitRepeat({ of, min, max, lazy }: Extract<Node, { kind: 'repeat' }>, out: Step[]): void {
  for (let n = 0; n < min; n++) emit(of, out)
  const splits: { do: 'split'; first: number; second: number }[] = []
  const split = () => {
    const step = { do: 'split' as const, first: out.length + 1, second: out.length + 1 }
    out.push(step)
    splits.push(step)
  }
  if (max === Number.POSITIVE_INFINITY) {
    const again = out.length
    split()
    emit(of, out)
    out.push({ do: 'jump', to: again })
  } else
    for (let n = min; n < max; n++) {
      split()
      emit(of, out)
    }
  for (const step of splits) step[lazy ? 'first' : 'second'] = out.length
}

const CLASSES: Record<string, RegExp> = { d: /\d/, D: /\D/, s: /\s/, S: /\S/, w: /\w/, W: /\W/ }

class Parser {
  readonly #source: string
  readonly #flags: string
  #at = 0

  constructor({ source, flags }: RegExp) {
    this.#source = source
    this.#flags = flags
  }

  parse(): Node {
    const node = this.#options()
    if (this.#at < this.#source.length) throw new Error(`cannot read /${this.#source}/ from ${this.#at} on`)
    return node
  }

  #take(text: string): boolean {
    if (!this.#source.startsWith(text, this.#at)) return false
    this.#at += text.length
    return true
  }

  #options(): Node {
    const options = [this.#sequence()]
    while (this.#take('|')) options.push(this.#sequence())
    return options.length === 1 && options[0] ? options[0] : { kind: 'any', options }
  }

  #sequence(): Node {
    const parts: Node[] = []
    while (this.#at < this.#source.length && !'|)'.includes(this.#source[this.#at] ?? ''))
      parts.push(this.#quantified(this.#atom()))
    return { kind: 'all', parts }
  }

  #quantified(of: Node): Node {
    const found = /^(?:([*+?])|\{(\d+)(,?)(\d*)\})(\??)/.exec(this.#source.slice(this.#at))
    if (!found) return of
    this.#at += found[0].length
    const [, sign, low, comma, high] = found
    const min = sign ? (sign === '+' ? 1 : 0) : Number(low)
    const max = sign
      ? sign === '?'
        ? 1
        : Number.POSITIVE_INFINITY
      : high
        ? Number(high)
        : comma
          ? Number.POSITIVE_INFINITY
          : min
    return { kind: 'repeat', of, min, max, lazy: found[5] === '?' }
  }

  #atom(): Node {
    if (this.#take('^')) return { kind: 'start' }
    if (this.#take('$')) return { kind: 'end' }
    for (const [sign, ahead, wanted] of [
      ['(?=', true, true],
      ['(?!', true, false],
      ['(?<=', false, true],
      ['(?<!', false, false],
    ] as const) {
      if (this.#take(sign)) return { kind: 'look', of: this.#group(), ahead, wanted }
    }
    if (this.#take('(?:') || this.#take('(')) return this.#group()
    if (this.#take('[')) return this.#class()
    if (this.#take('.')) return this.#char('.', char => char !== '\n' && char !== '\r')
    return this.#single(false)
  }

  #group(): Node {
    const node = this.#options()
    if (!this.#take(')')) throw new Error(`a group without an end in /${this.#source}/`)
    return node
  }

  #char(source: string, accepts: (char: string) => boolean): Node & { kind: 'char' } {
    const either = (char: string) =>
      accepts(char) || accepts(char.toLowerCase()) || accepts(char.toUpperCase())
    return { kind: 'char', source, accepts: this.#flags.includes('i') ? either : accepts }
  }

  /** One character, or a class such as `\d`. */
  #single(in_class: boolean): Node & { kind: 'char' } {
    const char = this.#source[this.#at++] ?? ''
    if (char !== '\\') return this.#char(char, one => one === char)
    const letter = this.#source[this.#at++] ?? ''
    const known = CLASSES[letter]
    if (known) return this.#char(`\\${letter}`, one => known.test(one))
    const digits = letter === 'x' ? 2 : letter === 'u' ? 4 : 0
    const code = this.#source.slice(this.#at, this.#at + digits)
    this.#at += digits
    if (letter === 'b' && !in_class) throw new Error(`a boundary in /${this.#source}/`)
    const named: Record<string, string> = { n: '\n', r: '\r', t: '\t', f: '\f', v: '\v', '0': '\0', b: '\b' }
    const meant = digits > 0 ? String.fromCharCode(Number.parseInt(code, 16)) : (named[letter] ?? letter)
    return this.#char(meant, one => one === meant)
  }

  #class(): Node {
    const from = this.#at
    const negated = this.#take('^')
    const parts: ((char: string) => boolean)[] = []
    while (!this.#take(']')) {
      const low = this.#single(true)
      if (this.#source[this.#at] === '-' && this.#source[this.#at + 1] !== ']') {
        this.#at++
        const high = this.#single(true)
        parts.push(char => char >= low.source && char <= high.source)
      } else parts.push(low.accepts)
    }
    return this.#char(
      `[${this.#source.slice(from, this.#at)}`,
      char => parts.some(part => part(char)) !== negated,
    )
  }
}
