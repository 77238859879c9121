import type { ExternalTools } from '../../agent/tool.ts'
import { actionTool } from '../../contract/runs/action-tools.ts'
import { type OfferedTools, offeredTools, type ServerTool } from '../../mcp/listed-tools.ts'
import { McpError } from '../../mcp/mcp-error.ts'
import type { RunServers } from '../../mcp/run-servers.ts'
import type { Model } from '../../model/port.ts'
import { type BackgroundRedactor, composed, redactFields } from '../../redaction/port.ts'
import { serviceAction } from '../../trace/agent-entries.ts'
import { errorEntry } from '../../trace/entry.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import { mcpTool } from './mcp-tool.ts'
import { createServerHandle, type Reach, type ServerHandle } from './server-handle.ts'

/**
 * The tools of the MCP servers of a turn. They are opened at the first call of `open`; disposing ends all
 * servers.
 */
type McpTools = AsyncDisposable & { open(): Promise<ExternalTools> }

type Parts = {
  writer: RunWriter
  redactor: BackgroundRedactor
  model: Pick<Model, 'accepts_images'>
  configured: RunServers
  reach: Reach
}
type OpenedServer = { handle: ServerHandle; revision: string; offered: OfferedTools }

/** Providers accept 128 tools, of which the service has some itself. */
const MAX_TOOLS = 100
/**
 * A sandbox has eight processes with connected streams at once, and an agent of another vendor is one of
 * them.
 */
const MAX_PROGRAMS = 7
const none: ExternalTools = new Map()

export function createMcpTools(parts: Parts): McpTools {
  const { reach } = parts
  const configured = withinPrograms(parts.configured)
  const handles = configured.servers.map(server =>
    createServerHandle(server, { ...reach, redact: text => parts.redactor.text(text) }),
  )
  let opening: Promise<ExternalTools> | null = null
  return {
    open() {
      if (handles.length === 0 && configured.problems.length === 0) return Promise.resolve(none)
      opening ??= openAll({ ...parts, configured }, handles)
      return opening
    },
    async [Symbol.asyncDispose]() {
      await opening?.catch(() => {})
      await Promise.all(handles.map(handle => handle[Symbol.asyncDispose]()))
    },
  }
}

function withinPrograms({ servers, problems }: RunServers): RunServers {
  const left_out = servers.filter(({ target }) => 'program' in target).slice(MAX_PROGRAMS)
  const problem = `It is left out: a run has at most ${MAX_PROGRAMS} servers that are programs.`
  return {
    servers: servers.filter(server => !left_out.includes(server)),
    problems: [...problems, ...left_out.map(({ name }) => ({ name, problem }))],
  }
}

/**
 * Opens all servers at once, and shows in the trace what they offer. A server that cannot be used is an ERROR
 * of the trace; the turn continues.
 */
async function openAll(parts: Parts, handles: ServerHandle[]): Promise<ExternalTools> {
  const { configured, reach, writer } = parts
  const started = performance.now()
  try {
    if (configured.servers.some(({ target }) => 'program' in target)) await reach.sandbox()
    const results = await Promise.all(handles.map(handle => openOne(handle, parts.redactor)))
    const opened = withinTotal(results.flatMap(result => ('offered' in result ? result : [])))
    const problems = [
      ...configured.problems,
      ...results.flatMap(result => ('problem' in result ? result : [])),
    ]
    await writer.append({ entries: entriesOf(opened, problems, performance.now() - started) })
    return toolsOf(opened, parts)
  } catch (error) {
    // The turn ends anyway.
    if (reach.signal.aborted) return none
    throw error
  }
}

async function openOne(
  handle: ServerHandle,
  redactor: BackgroundRedactor,
): Promise<OpenedServer | { name: string; problem: string }> {
  const { name, tools } = handle.server
  try {
    const connection = await handle.connection()
    const listed = await redactedTools(connection.takeTools(), redactor)
    return { handle, revision: connection.revision, offered: offeredTools(name, listed, tools) }
  } catch (error) {
    if (!(error instanceof McpError)) throw error
    return { name, problem: error.message }
  }
}

function withinTotal(opened: OpenedServer[]): OpenedServer[] {
  let left = MAX_TOOLS
  return opened.map(({ offered, ...rest }) => {
    const tools = offered.tools.slice(0, left)
    left -= tools.length
    const missing = offered.tools.length - tools.length
    const note =
      missing > 0 ? [`${missing} more: the servers of a run may offer ${MAX_TOOLS} tools together.`] : []
    return { ...rest, offered: { tools, left_out: [...offered.left_out, ...note] } }
  })
}

function entriesOf(opened: OpenedServer[], problems: RunServers['problems'], duration_ms: number) {
  const servers = opened.map(({ handle: { server }, revision, offered: { tools, left_out } }) => ({
    name: server.name,
    source: server.source,
    protocol: revision,
    tools: tools.map(({ name }) => name),
    ...(left_out.length > 0 && { left_out }),
  }))
  const shown =
    servers.length === 0
      ? []
      : [serviceAction(actionTool.mcp_connections, {}, { status: 'ok', servers }, duration_ms)]
  const errors = problems.map(({ name, problem }) =>
    errorEntry({
      code: 'mcp_server_failed',
      message: `MCP server ${name}: ${problem}`,
      retryable: false,
      phase: 'agent',
    }),
  )
  return [...shown, ...errors]
}

/**
 * Descriptions of another party may contain a secret that its program has seen. They are redacted before
 * anything shortens them.
 */
async function redactedTools(listed: ServerTool[], redactor: BackgroundRedactor): Promise<ServerTool[]> {
  return Promise.all(
    listed.map(async ({ name, description, inputSchema }) => ({
      name,
      ...(await redactFields(redactor, { description, inputSchema })),
    })),
  )
}

function toolsOf(opened: OpenedServer[], { model }: Parts): ExternalTools {
  const tools = opened.flatMap(({ handle, offered }) => offered.tools.map(tool => ({ handle, tool })))
  return new Map(
    tools.map(({ handle, tool }) => {
      const { name, description, input_schema } = tool
      const spec = composed({ name, description, input_schema })
      return [name, mcpTool(handle, tool, spec, model.accepts_images)]
    }),
  )
}
