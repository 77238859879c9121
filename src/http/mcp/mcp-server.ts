import {
  createMcpHandler,
  type McpHttpHandler,
  Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import type { AgentRun } from '../../contract/runs/runs.ts'
import { errorText, type Log } from '../../core/log.ts'
import { callOperation, type McpCall } from './call-operation.ts'
import { cancelName } from './cancelled-calls.ts'
import { listTraces, readTrace, refusal, traceTemplate } from './resources.ts'
import { problemJson, problemResult, successResult } from './tool-result.ts'
import { listedTools } from './tool-schemas.ts'
import { toolByName } from './tool-table.ts'

const instructions = `This service runs AI coding agents on Git repositories, each in a sandbox of its own, and proposes their changes as pull requests.
Usual order: list_repositories, create_agent_run with a complete task as prompt, wait_for_agent_run until its reason is not "timeout", then get_agent_run_diff or get_pull_request.
A run with the reason "waiting" has a question or needs an approval: read get_agent_run_logs with reverse, and answer by resume_agent_run. A run that has ended accepts further tasks by resume_agent_run, too.
A result with isError is a problem as JSON: code, detail, and in errors the arguments that it concerns.`

/** The tools change with the version of the service only. */
const cacheHints = { 'tools/list': { ttlMs: 300_000, cacheScope: 'private' } } as const

/** The HTTP request of a message, which the SDK passes on unread beside its token. */
export type McpMessage = Omit<McpCall, 'cancelled' | 'cancel_name' | 'onRun'>

/**
 * Returns the handler of both revisions of the protocol. Every message gets a server of its own, so any
 * process may receive any message: nothing is kept between two of them.
 */
export function createHandler({ version, log }: { version: string; log: Log }): McpHttpHandler {
  return createMcpHandler(
    ({ authInfo }) => {
      const message = authInfo?.extra?.message as McpMessage
      return serverFor(message, version, log)
    },
    {
      onerror: error =>
        log('debug', 'a message of the Model Context Protocol was refused', { error: errorText(error) }),
      // The route sends heartbeats: those of the SDK end with a blank line, for which some clients deliver an
      // empty message.
      keepAliveMs: 0,
    },
  )
}

function serverFor(message: McpMessage, version: string, log: Log): Server {
  const info = {
    name: 'agent-run-service',
    title: 'Agent Run Service',
    version,
    websiteUrl: message.edge.services.base_url,
  }
  const server = new Server(info, { capabilities: { tools: {}, resources: {} }, instructions, cacheHints })
  const callOf = (ctx: ServerContext): McpCall => ({
    ...message,
    cancelled: ctx.mcpReq.signal,
    cancel_name: cancelName(message.request, message.caller, ctx.mcpReq.id),
    onRun: progressOf(ctx),
  })
  server.setRequestHandler('tools/list', () => ({ tools: listedTools }))
  server.setRequestHandler('tools/call', async ({ params }, ctx) => {
    const tool = toolByName.get(params.name)
    const call = callOf(ctx)
    if (tool === undefined) throw await refusal(call, `Unknown tool: ${params.name.slice(0, 100)}`)
    const began = performance.now()
    const report = (code: string) => {
      const { id: request_id } = message.request
      const { token_id } = message.caller.actor
      log('info', 'tool call', {
        tool: tool.name,
        code,
        duration_ms: Math.round(performance.now() - began),
        request_id,
        token_id,
      })
    }
    try {
      const result = successResult(await callOperation(call, tool, params.arguments ?? {}))
      report('ok')
      return result
    } catch (error) {
      const problem = problemJson(call, error, log)
      report(problem.code)
      return problemResult(problem)
    }
  })
  server.setRequestHandler('resources/list', (_request, ctx) => listTraces(callOf(ctx)))
  server.setRequestHandler('resources/templates/list', () => ({ resourceTemplates: [traceTemplate] }))
  server.setRequestHandler('resources/read', ({ params }, ctx) => readTrace(callOf(ctx), params.uri))
  return server
}

/**
 * Reports each state of a run to a client that requested progress: seconds of the wait, which always
 * increase, and the state as text.
 */
function progressOf({ mcpReq }: ServerContext): McpCall['onRun'] {
  const progressToken = mcpReq._meta?.progressToken
  if (progressToken === undefined) return () => {}
  const began = performance.now()
  return ({ id, status, phase, waiting_on, total_logs }: AgentRun) => {
    const detail = [...new Set([phase, waiting_on])].filter(word => word !== null).join(', ')
    const message = `Run ${id}: ${status}${detail === '' ? '' : ` (${detail})`}, ${total_logs} log entries`
    const params = { progressToken, progress: Math.round(performance.now() - began) / 1000, message }
    // A client that has gone ends the wait by its signal.
    mcpReq.notify({ method: 'notifications/progress', params }).catch(() => {})
  }
}
