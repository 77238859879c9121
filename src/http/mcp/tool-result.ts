import type { CallToolResult } from '@modelcontextprotocol/server'
import type { Problem } from '../../contract/error-codes.ts'
import type { Log } from '../../core/log.ts'
import { knownError, problemOf } from '../problem-response.ts'
import type { McpCall } from './call-operation.ts'
import { atArguments } from './tool-input.ts'

/** Returns the result of a success: as data for programs, and as text for clients that only read text. */
export function successResult(result: unknown): CallToolResult {
  return {
    content: [{ type: 'text', text: JSON.stringify(result) }],
    structuredContent: result as Record<string, unknown>,
  }
}

/**
 * Returns the problem that the API would respond with; the fields that it names are arguments. Logs it when
 * only the operator can fix it.
 */
export function problemJson(
  { edge, request }: McpCall,
  error: unknown,
  log: Log = () => {},
): Problem & { retry_after_seconds?: number } {
  const known = atArguments(knownError(error, request, log))
  const problem = problemOf(known, edge.services.base_url, { id: request.id, url: request.raw.url })
  const seconds = Number(known.headers['retry-after'] ?? Number.NaN)
  return Number.isNaN(seconds) ? problem : { ...problem, retry_after_seconds: seconds }
}

/** A refused call is a result that the model reads, not an error of the protocol. */
export function problemResult(problem: Problem): CallToolResult {
  return { content: [{ type: 'text', text: JSON.stringify(problem) }], isError: true }
}
