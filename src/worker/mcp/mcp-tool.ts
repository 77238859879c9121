import { type ExternalTool, interrupted, type ToolOutcome } from '../../agent/tool.ts'
import { orAborted } from '../../core/abort.ts'
import type { OfferedTool } from '../../mcp/listed-tools.ts'
import { McpError } from '../../mcp/mcp-error.ts'
import { type ResultContent, readResult } from '../../mcp/tool-result.ts'
import type { ServerHandle } from './server-handle.ts'

const OUTCOME_UNKNOWN = 'It may or may not have taken effect: check before you repeat it.'
const CHANGED = 'The server has changed its tools; the change counts from the next turn on.'
const NO_IMAGES = 'The images are left out: this model is not known to accept images.'

/** Returns a tool of an MCP server as the agent calls it. Each call is sent once. `spec`: redacted. */
export function mcpTool(
  handle: ServerHandle,
  { tool }: OfferedTool,
  spec: ExternalTool['spec'],
  accepts_images: boolean,
): ExternalTool {
  const { server } = handle
  const observation = { server: server.name, tool }
  let noted = false
  return {
    spec,
    async run({ signal, max_seconds }, input) {
      const timeout_ms = Math.min(server.timeout_ms, max_seconds * 1_000)
      try {
        const connection = await orAborted(handle.connection(), signal)
        const result = readResult(await connection.call(tool, input, { timeout_ms, signal }))
        const changed = !noted && connection.hasChanged()
        noted ||= changed
        return { ...outcomeOf(result, accepts_images, changed), observation }
      } catch (error) {
        if (signal.aborted) return { ...unknown(interrupted()), observation }
        if (!(error instanceof McpError)) throw error
        if (!error.responded && error.kind === 'failed') handle.fail()
        return { ...failureOf(server.name, error), observation }
      }
    },
  }
}

function outcomeOf(
  { text, images, is_error }: ResultContent,
  accepts_images: boolean,
  changed: boolean,
): ToolOutcome {
  const notes = [...(images.length > 0 && !accepts_images ? [NO_IMAGES] : []), ...(changed ? [CHANGED] : [])]
  const note = notes.length > 0 && { note: notes.join(' ') }
  if (is_error)
    return {
      status: 'error',
      output: { status: 'error', error: text || 'The tool reported an error.', ...note },
    }
  return {
    status: 'ok',
    output: { status: 'ok', text, ...note },
    ...(images.length > 0 && accepts_images && { images }),
  }
}

/** The server has answered with an error, or nobody knows what became of the call. */
function failureOf(server: string, { kind, message, responded }: McpError): ToolOutcome {
  const status = kind === 'timeout' ? 'timeout' : 'error'
  const text = `The MCP server ${server} did not complete the call. ${message}${responded ? '' : ` ${OUTCOME_UNKNOWN}`}`
  if (responded) return { status, output: { status, error: text } }
  return {
    status,
    output: { status, error: text },
    error: { code: kind === 'timeout' ? 'tool_timeout' : 'mcp_failed', message: text },
  }
}

const unknown = (outcome: ToolOutcome): ToolOutcome => ({
  ...outcome,
  output: { ...outcome.output, error: `Interrupted before it ended. ${OUTCOME_UNKNOWN}` },
})
