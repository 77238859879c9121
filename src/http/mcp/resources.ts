import {
  type ListResourcesResult,
  ProtocolError,
  ProtocolErrorCode,
  type ReadResourceResult,
} from '@modelcontextprotocol/server'
import type { AgentRun } from '../../contract/runs/runs.ts'
import { ServiceError } from '../../core/service-error.ts'
import { callOperation, type McpCall } from './call-operation.ts'
import { chargeStandard } from './charge-standard.ts'
import { problemJson } from './tool-result.ts'
import { toolByName } from './tool-table.ts'

const MIME_TYPE = 'application/json'
const pattern = /^agentrun:\/\/organizations\/(\d{1,15})\/runs\/(\d{1,15})\/trace(?:\?after_seq=(\d{1,9}))?$/

export const traceTemplate = {
  uriTemplate: 'agentrun://organizations/{org_id}/runs/{agent_run_id}/trace{?after_seq}',
  name: 'agent_run_trace',
  title: 'The trace of a run',
  description:
    'The run and 100 entries of its trace, oldest first, as `get_agent_run_logs` returns them. Continue with the last `seq` as `after_seq`.',
  mimeType: MIME_TYPE,
}

const call = (mcp: McpCall, name: string, args: Record<string, unknown>) => {
  const tool = toolByName.get(name)
  if (tool === undefined) throw new Error(`there is no tool ${name}`)
  return callOperation(mcp, tool, args)
}

/**
 * Returns the traces of the newest runs. Of a user with several organizations only the template is known, so
 * that list is empty.
 */
export async function listTraces(mcp: McpCall): Promise<ListResourcesResult> {
  const page = await call(mcp, 'list_agent_runs', { limit: 100 }).catch(error => {
    if (error instanceof ServiceError && error.errors[0]?.loc.includes('org_id')) return { items: [] }
    throw protocolError(mcp, error)
  })
  const { items } = page as { items: AgentRun[] }
  return {
    resources: items.map(({ id, organization_id, title, status, created_at, updated_at }) => ({
      uri: `agentrun://organizations/${organization_id}/runs/${id}/trace`,
      name: `agent_run_${id}_trace`,
      title: `Trace of run ${id}: ${title}`,
      description: `Status ${status}, created at ${created_at}`,
      mimeType: MIME_TYPE,
      annotations: { lastModified: updated_at },
    })),
  }
}

/**
 * Returns a page of a trace. Throws a protocol error whose data is the problem that the API would respond
 * with.
 */
export async function readTrace(mcp: McpCall, uri: string): Promise<ReadResourceResult> {
  const [, org_id, agent_run_id, after_seq] = pattern.exec(uri) ?? []
  if (org_id === undefined)
    throw await refusal(mcp, `No such resource: use ${traceTemplate.uriTemplate}.`, { uri })
  const page = await call(mcp, 'get_agent_run_logs', { org_id, agent_run_id, after_seq, limit: 100 }).catch(
    error => {
      throw protocolError(mcp, error, uri)
    },
  )
  return { contents: [{ uri, mimeType: MIME_TYPE, text: JSON.stringify(page) }] }
}

function protocolError(mcp: McpCall, error: unknown, uri?: string): ProtocolError {
  const problem = problemJson(mcp, error)
  const code = problem.status >= 500 ? ProtocolErrorCode.InternalError : ProtocolErrorCode.InvalidParams
  return new ProtocolError(code, problem.detail, { ...problem, ...(uri !== undefined && { uri }) })
}

/**
 * Charges a message that names nothing known and returns its error, or the one of a limit that is reached.
 */
export function refusal(
  mcp: McpCall,
  message: string,
  data?: Record<string, unknown>,
): Promise<ProtocolError> {
  return chargeStandard(mcp).then(
    () => new ProtocolError(ProtocolErrorCode.InvalidParams, message, data),
    error => protocolError(mcp, error),
  )
}
