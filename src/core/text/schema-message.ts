/** What a schema refused, as zod describes it. */
type Issue = {
  code?: string
  origin?: string
  inclusive?: boolean
  minimum?: number | bigint
  maximum?: number | bigint
  input?: unknown
  expected?: string
}

/**
 * The plain message for a value that a schema refuses, as the end of a sentence about its field; undefined:
 * zod's own is used.
 */
export function schemaMessage(issue: Issue): string | undefined {
  const { code, origin = '', inclusive, minimum, maximum } = issue
  if (code === 'too_small' && minimum !== undefined)
    return rangeMessage(origin, inclusive === false ? 'more than' : 'at least', minimum)
  if (code === 'too_big' && maximum !== undefined)
    return rangeMessage(origin, inclusive === false ? 'less than' : 'at most', maximum)
  if (code !== 'invalid_type') return undefined
  if (issue.input === undefined) return 'is required'
  if (issue.expected === 'int') return 'must be a whole number'
  return issue.expected === 'number' ? 'must be a number' : undefined
}

function rangeMessage(origin: string, bound: string, value: number | bigint): string | undefined {
  if (origin === 'string')
    return value === 1 && bound === 'at least'
      ? 'must not be empty'
      : `must have ${bound} ${counted(value, 'character')}`
  if (origin === 'array' || origin === 'set') return `must have ${bound} ${counted(value, 'item')}`
  return ['number', 'int', 'bigint'].includes(origin) ? `must be ${bound} ${value}` : undefined
}

const counted = (value: number | bigint, noun: string) => `${value} ${noun}${Number(value) === 1 ? '' : 's'}`
