import type { z } from 'zod'
import type { Endpoint } from '../../contract/endpoint.ts'
import { endpoints } from '../../contract/endpoints.ts'
import { RunWait, RunWaitQuery } from '../../contract/mcp/run-wait.ts'
import type { handlers } from '../handlers.ts'

/** The operations of the API that are tools. */
type ToolOperation = Extract<
  keyof typeof handlers,
  | 'createAgentRun'
  | 'dryRunAgentRun'
  | 'getAgentRun'
  | 'listAgentRuns'
  | 'resumeAgentRun'
  | 'pauseAgentRun'
  | 'stopAgentRun'
  | 'getAgentRunLogs'
  | 'searchAgentRunLogs'
  | 'getAgentRunDiff'
  | 'listAgentRunFiles'
  | 'getAgentRunFile'
  | 'listPullRequests'
  | 'getPullRequest'
  | 'getPullRequestDiff'
  | 'listPullRequestChecks'
  | 'listRepositories'
  | 'listModels'
  | 'listOrganizations'
>

/**
 * What differs from the row of the operation. `omit`: fields that make no sense here; `defaults`: values that
 * suit a model's context.
 */
type Difference = { omit?: readonly string[]; defaults?: Readonly<Record<string, unknown>>; hint?: string }

const short_page = { limit: 20 }
/** Two ways too many to name a page; a result has no `Link`, so no cursor either. */
const not_for_tools = ['page', 'size', 'cursor']
const operations: Record<ToolOperation, Difference> = {
  createAgentRun: {
    omit: ['dry_run'],
    hint: 'Then call `wait_for_agent_run`. With `idempotency_key` a repetition creates no second run.',
  },
  dryRunAgentRun: {},
  getAgentRun: {},
  listAgentRuns: { omit: not_for_tools, defaults: short_page },
  resumeAgentRun: {},
  pauseAgentRun: {},
  stopAgentRun: {},
  getAgentRunLogs: { omit: not_for_tools, defaults: short_page },
  searchAgentRunLogs: {},
  // The JSON has the patch, too.
  getAgentRunDiff: { omit: ['format'] },
  listAgentRunFiles: {},
  getAgentRunFile: {},
  listPullRequests: { omit: not_for_tools, defaults: short_page },
  getPullRequest: {},
  getPullRequestDiff: { omit: ['format'] },
  listPullRequestChecks: {},
  listRepositories: { omit: not_for_tools },
  listModels: {},
  listOrganizations: { omit: not_for_tools },
}

/**
 * A tool: `operation` is the row of the API that it calls; null for the wait, which the API has as streams.
 */
export type Tool = Required<Pick<Difference, 'omit' | 'defaults'>> & {
  name: string
  operation: ToolOperation | null
  endpoint: Endpoint & { response: z.ZodType }
}

/** The wait has the path and the permissions of `getAgentRun`. */
const wait: Tool = {
  name: 'wait_for_agent_run',
  operation: null,
  omit: [],
  defaults: {},
  endpoint: {
    ...endpoints.getAgentRun,
    summary: 'Wait for an agent run',
    description:
      'Returns when the run has ended, is paused or waits for a person, or after `timeout_seconds`; then call it again. `reason` names which. Answer a question with `resume_agent_run`. Reports progress on the way. A wait that is cancelled does not stop the run.',
    query: RunWaitQuery,
    response: RunWait,
  },
}

const nameOf = (operation: string) => operation.replace(/[A-Z]/g, letter => `_${letter.toLowerCase()}`)

const derived = (Object.entries(operations) as [ToolOperation, Difference][]).map(
  ([operation, { omit = [], defaults = {}, hint }]): Tool => {
    const row: Endpoint & { response: z.ZodType } = endpoints[operation]
    const description = [row.description, hint].filter(text => text !== undefined).join(' ')
    return {
      name: nameOf(operation),
      operation,
      omit,
      defaults,
      endpoint: description === '' ? row : { ...row, description },
    }
  },
)

/** The tools in the order in which they are listed. */
export const tools: readonly Tool[] = [...derived, wait]
export const toolByName: ReadonlyMap<string, Tool> = new Map(tools.map(tool => [tool.name, tool]))
