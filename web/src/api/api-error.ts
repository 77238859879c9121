import { AgentRunError } from '../../../src/client/sdk/error.ts'

/**
 * The HTTP status of a failed call, 0 when the service could not be reached, null for an error of another
 * kind.
 */
export const statusOf = (error: unknown): number | null =>
  error instanceof AgentRunError ? error.status : null

/** Whether an error means that this browser is not signed in. */
export const isSignedOut = (error: unknown): boolean => statusOf(error) === 401

/**
 * Messages by field name, for forms: the last part of each `loc`, with those inside `budget` named
 * `budget.<field>`.
 */
export function fieldMessages(error: unknown): Record<string, string> {
  if (!(error instanceof AgentRunError)) return {}
  const messages: Record<string, string> = {}
  for (const { loc, msg } of error.errors) {
    const names = loc.filter((part, index) => typeof part === 'string' && !(index === 0 && part === 'body'))
    messages[names.join('.')] ??= msg
  }
  return messages
}

/** The message for a field or for something inside it, which is then named; undefined if there is none. */
export function messageWithin(messages: Record<string, string>, field: string): string | undefined {
  const key = Object.keys(messages).find(name => name === field || name.startsWith(`${field}.`))
  if (key === undefined) return undefined
  return key === field ? messages[key] : `${key.slice(field.length + 1)}: ${messages[key]}`
}
