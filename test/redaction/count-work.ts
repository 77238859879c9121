import { countedMatch } from './regexp-steps.ts'

/**
 * The work done: steps of regular expressions, characters read, functions that lists called. `patterns`:
 * those that ran.
 */
export type Work = { steps: number; patterns: Map<string, RegExp> }

type Real = (...args: never[]) => unknown
const real_exec = RegExp.prototype.exec
const LISTS = [
  'some',
  'every',
  'find',
  'findIndex',
  'findLast',
  'filter',
  'map',
  'flatMap',
  'forEach',
  'reduce',
]

/**
 * Counts the work of a synchronous function, by counting functions instead of those of strings, lists and
 * patterns. Every match is compared with the one that the engine of the tests finds, so the count is that of
 * the pattern itself.
 */
export function countWork(work: () => unknown): Work {
  const done: Work = { steps: 0, patterns: new Map() }
  let counting = false
  const undo: (() => void)[] = []
  /** `cost`: called with the arguments and the result of the real function. Its own work is not counted. */
  const count = (
    of: object,
    name: string,
    cost: (self: never, args: never[], response: unknown) => number,
  ) => {
    const before = Object.getOwnPropertyDescriptor(of, name)
    if (!before) throw new Error(`there is no ${name}`)
    const real = before.value as Real
    const counted = function (this: never, ...args: never[]) {
      const response = real.apply(this, args)
      if (!counting) return response
      counting = false
      done.steps += cost(this, args, response)
      counting = true
      return response
    }
    Object.defineProperty(of, name, { ...before, value: counted })
    undo.push(() => Object.defineProperty(of, name, before))
  }
  const exec = function (this: RegExp, text: string) {
    const from = this.global || this.sticky ? this.lastIndex : 0
    const found = real_exec.call(this, text)
    if (!counting) return found
    counting = false
    done.patterns.set(String(this), this)
    const mine = countedMatch(this, text, from)
    done.steps += mine.steps
    if ((found?.index ?? -1) !== mine.start || (found && found.index + found[0].length !== mine.end))
      throw new Error(`the engine of the tests reads ${this} otherwise from ${from} on`)
    counting = true
    return found
  }
  for (const name of ['includes', 'indexOf', 'lastIndexOf']) count(String.prototype, name, charactersRead)
  for (const name of ['startsWith', 'endsWith', 'charCodeAt', 'slice', 'substr'])
    count(String.prototype, name, agreed)
  for (const name of LISTS) count(Array.prototype, name, (self: unknown[]) => self.length)
  RegExp.prototype.exec = exec
  counting = true
  try {
    work()
  } finally {
    counting = false
    RegExp.prototype.exec = real_exec
    for (const one of undo.reverse()) one()
  }
  return done
}

/** What has to be read to know it. */
function charactersRead(self: string, [sought]: string[], response: unknown): number {
  const at = typeof response === 'number' ? response : self.indexOf(sought ?? '')
  return at < 0 ? self.length : at + 1
}

/** One, and what two texts agree in. */
function agreed(self: string, args: (string & number)[], response: unknown): number {
  const [sought = '', from]: [string?, number?] = [args[0], args[1]]
  if (typeof response !== 'boolean') return 1
  const start = from ?? (response ? self.length - sought.length : 0)
  let n = 0
  while (n < sought.length && self[start + n] === sought[n]) n++
  return n + 1
}
