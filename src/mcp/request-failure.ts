import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { Quote, type Redact } from '../core/secrets/quote.ts'
import { McpError } from './mcp-error.ts'

const MAX_SHOWN_CHARACTERS = 1_000

/** Returns the failure of a request as the person reads it. */
export async function asMcpError(error: unknown, timeout_ms: number, redact: Redact): Promise<McpError> {
  const shown = (text: string) => new Quote(text, MAX_SHOWN_CHARACTERS).shown(redact)
  if (error instanceof McpError) return error
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) return timedOut(timeout_ms)
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult)
    return new McpError('failed', `It returned an invalid result: ${await shown(error.message)}`, true)
  if (error instanceof ProtocolError)
    return new McpError('failed', `It reported an error: ${await shown(error.message)}`, true)
  return new McpError('failed', `It cannot be used: ${await shown(textOf(error))}`)
}

export const timedOut = (timeout_ms: number): McpError =>
  new McpError('timeout', `It did not respond within ${timeout_ms / 1_000} s.`)

/** The reason of a failed connection is the cause of what `fetch` throws. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${textOf(error.cause)}` : error.message
}
