import type { LanguageModelStreamPart } from 'ai'
import { storedText } from '../../core/text/stored-text.ts'
import type { ToolCall } from '../port.ts'

/** Maximum nesting of tool arguments; deeper ones break serializers. */
const MAX_ARGUMENT_DEPTH = 64
/**
 * Maximum number of values in tool arguments at all levels: truncation, comparison and display visit each.
 */
const MAX_ARGUMENT_VALUES = 10_000
/**
 * Maximum size of tool arguments: more than a model can write in one response, and than its conversation
 * could keep.
 */
const MAX_ARGUMENT_BYTES = 512 * 1024
/** Maximum length of a tool's name, of the id of a call and of other words of a provider. */
const MAX_NAME = 200

/**
 * Returns a name as it is, or an empty one when it is too long: it is not redacted yet, and half a secret is
 * not recognized.
 */
export const shortName = (name: string): string => (name.length > MAX_NAME ? '' : name)

type ToolCallPart = Extract<LanguageModelStreamPart, { type: 'tool-call' }>

/** What models write after the name: a number of the call, and the next part of their template. */
const AFTER_NAME = /(?::\d+|<\|.*)$/s

/**
 * Returns the name of the tool that is called. Some models put a namespace before it, as in
 * `functions.shell`, and more after it, as in `functions.shell:0`, or write it in another case: what is left
 * names exactly one tool, or the name stays. `tickets__read` is a tool of a server, which may be gone, and
 * none of ours. No provider accepts a blank name in the next request.
 */
export function toolNameOf(given: string, tools: ReadonlySet<string>): string {
  const name = storedText(shortName(given)).trim()
  if (name === '') return 'unnamed'
  if (tools.has(name)) return name
  const whole = name.replace(AFTER_NAME, '')
  const wanted = [
    whole,
    ...['.', ':', '/'].map(separator => whole.slice(whole.lastIndexOf(separator)).replace(separator, '')),
  ]
  const same = wanted.find(each => tools.has(each))
  if (same !== undefined) return same
  const lower = new Set(wanted.map(each => each.toLowerCase()))
  const [only, ...others] = [...tools].filter(tool => lower.has(tool.toLowerCase()))
  return only !== undefined && others.length === 0 ? only : name
}

/** Returns an id that is not taken: the wanted one, or a similar one. */
export function freeId(wanted: string, taken: ReadonlySet<string>): string {
  const id = storedText(shortName(wanted))
  const blank = id.trim() === ''
  if (!taken.has(id) && !blank) return id
  const stem = blank ? 'call' : storedText(id.slice(0, MAX_NAME - 10))
  for (let number = 2; ; number++) if (!taken.has(`${stem}_${number}`)) return `${stem}_${number}`
}

/**
 * Returns the arguments of a call, or why they are invalid. The SDK also marks calls of unknown tools as
 * invalid; those are passed on, and the agent responds to them.
 */
export function argumentsOf(
  part: ToolCallPart,
  text_field: string | undefined,
): Pick<ToolCall, 'input' | 'invalid'> {
  const input: unknown = part.input
  if (typeof input === 'string' && text_field !== undefined && !part.invalid)
    return { input: { [text_field]: input } }
  const invalid = (why: string) => ({ input: null, invalid: why })
  if (typeof input === 'string' && part.invalid) {
    return input.trim() === ''
      ? { input: {} }
      : invalid(
          `The arguments are not valid JSON: ${storedText(shortName(input)) || `${input.length} characters`}`,
        )
  }
  if (typeof input !== 'object' || input === null || Array.isArray(input)) {
    const what = input === null ? 'null' : Array.isArray(input) ? 'an array' : `a ${typeof input}`
    return invalid(`The arguments must be a JSON object, not ${what}.`)
  }
  const excess = excessOf(input)
  if (excess !== null) return invalid(excess)
  const bytes = Buffer.byteLength(JSON.stringify(input))
  if (bytes > MAX_ARGUMENT_BYTES)
    return invalid(
      `The arguments have ${bytes} bytes, more than ${MAX_ARGUMENT_BYTES}. Write a large file in parts.`,
    )
  return { input: input as Record<string, unknown> }
}

/** Returns the limit that these arguments exceed, or null. */
function excessOf(root: object): string | null {
  let values = 0
  let level: unknown[] = [root]
  for (let depth = 0; level.length > 0; depth++) {
    if (depth > MAX_ARGUMENT_DEPTH)
      return `The arguments are nested more than ${MAX_ARGUMENT_DEPTH} levels deep.`
    const next: unknown[] = []
    for (const parent of level)
      for (const value of Object.values(parent as object)) {
        if (++values > MAX_ARGUMENT_VALUES)
          return `The arguments hold more than ${MAX_ARGUMENT_VALUES} values.`
        if (typeof value === 'object' && value !== null) next.push(value)
      }
    level = next
  }
  return null
}
