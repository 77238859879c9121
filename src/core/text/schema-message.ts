import type { z } from 'zod'

/** The plain message for a value that a schema refuses, as the end of a sentence about its field; undefined: zod's own is used. */
export function schemaMessage(issue: z.core.$ZodRawIssue): string | undefined {
  if (issue.code === 'too_small') return rangeMessage(issue.origin, issue.inclusive === false ? 'more than' : 'at least', issue.minimum)
  if (issue.code === 'too_big') return rangeMessage(issue.origin, issue.inclusive === false ? 'less than' : 'at most', issue.maximum)
  if (issue.code !== 'invalid_type') return undefined
  if (issue.input === undefined) return 'is required'
  if (issue.expected === 'int') return 'must be a whole number'
  return issue.expected === 'number' ? 'must be a number' : undefined
}

function rangeMessage(origin: string, bound: string, value: number | bigint): string | undefined {
  if (origin === 'string')
    return value === 1 && bound === 'at least' ? 'must not be empty' : `must have ${bound} ${counted(value, 'character')}`
  if (origin === 'array' || origin === 'set') return `must have ${bound} ${counted(value, 'item')}`
  return ['number', 'int', 'bigint'].includes(origin) ? `must be ${bound} ${value}` : undefined
}

const counted = (value: number | bigint, noun: string) => `${value} ${noun}${Number(value) === 1 ? '' : 's'}`
