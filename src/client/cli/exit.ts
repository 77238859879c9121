import { AgentRunError } from '../sdk/client.ts'
import { hasSucceeded } from '../sdk/follow.ts'
import type { AgentRun } from '../sdk/operations.ts'

/**
 * What the process ends with (docs/reference/clients.md). An interrupted one ends with 128 and the signal's
 * number.
 */
export const exit = { success: 0, failed: 1, usage: 2, unreachable: 3, signed_out: 4, incomplete: 5 } as const

/** Wrong usage: reported with a pointer to the help. */
export class UsageError extends Error {}

/** An error that one line explains. */
export class CliError extends Error {
  readonly code: number
  constructor(message: string, code: number = exit.failed) {
    super(message)
    this.code = code
  }
}

/** Ctrl-C, or a signal of a shell. */
export class InterruptedError extends Error {
  readonly code: number
  constructor(signal: 'SIGINT' | 'SIGTERM' | 'SIGHUP') {
    super(`interrupted by ${signal}`)
    this.code = { SIGHUP: 129, SIGINT: 130, SIGTERM: 143 }[signal]
  }
}

/**
 * Returns the exit code of an error: usage, missing sign-in, unreachable service and everything else differ.
 */
export function exitCodeOf(error: unknown): number {
  if (error instanceof UsageError) return exit.usage
  if (error instanceof CliError || error instanceof InterruptedError) return error.code
  if (!(error instanceof AgentRunError)) return exit.failed
  if (error.status === 401) return exit.signed_out
  return ['unreachable', 'timeout'].includes(error.code) || [502, 503, 504].includes(error.status)
    ? exit.unreachable
    : exit.failed
}

/**
 * Returns the exit code of a run that has ended or waits. Only a completed run that did everything that was
 * requested is a success.
 */
export function exitCodeOfRun(run: AgentRun): number {
  if (hasSucceeded(run)) return exit.success
  return /^complete/i.test(run.status) ? exit.incomplete : exit.failed
}
