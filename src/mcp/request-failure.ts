import { ProtocolError, SdkError, SdkErrorCode } from '@modelcontextprotocol/client'
import { McpError } from './mcp-error.ts'

const MAX_SHOWN_CHARACTERS = 1_000

/** Returns the failure of a request as the person reads it. `redacted`: applied before its text is shortened, which could cut a secret in two. */
export async function asMcpError(error: unknown, timeout_ms: number, redacted: (text: string) => Promise<string>): Promise<McpError> {
  const shown = async (text: string) => (await redacted(text)).slice(0, MAX_SHOWN_CHARACTERS)
  if (error instanceof McpError) return error
  if (error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout) return timedOut(timeout_ms)
  if (error instanceof SdkError && error.code === SdkErrorCode.InvalidResult)
    return new McpError('failed', `It returned an invalid result: ${await shown(error.message)}`, true)
  if (error instanceof ProtocolError) return new McpError('failed', `It reported an error: ${await shown(error.message)}`, true)
  return new McpError('failed', `It cannot be used: ${await shown(textOf(error))}`)
}

export const timedOut = (timeout_ms: number): McpError => new McpError('timeout', `It did not respond within ${timeout_ms / 1_000} s.`)

/** The reason of a failed connection is the cause of what `fetch` throws. */
function textOf(error: unknown): string {
  if (!(error instanceof Error)) return String(error)
  return error.cause instanceof Error ? `${error.message}: ${textOf(error.cause)}` : error.message
}
