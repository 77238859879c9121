import { id } from '../decimal.ts'
import { type Endpoint, org, run, v1 } from '../endpoint.ts'
import { AnalyzeLogsInput, AnalyzeManyLogsInput, LogAnalysis } from '../runs/log-analysis.ts'

const how =
  'Returns the findings of rules immediately, and creates a run whose result adds the explanation of the default model, if there is one.'

/** Log analysis (specification.md#setup-and-analysis). */
export const logAnalysisEndpoints = {
  analyzeSandboxLogs: {
    ...v1,
    tag: 'sandbox',
    method: 'POST',
    path: '/v1/organizations/{org_id}/sandbox/{sandbox_id}/analyze-logs',
    summary: 'Analyze the logs of a sandbox',
    description: `${how} The body may be left out. 400 when there is nothing to analyze.`,
    scope: 'runs:write',
    bucket: 'log_analysis',
    params: org.extend({ sandbox_id: id().describe('The sandbox') }),
    body: AnalyzeLogsInput,
    problems: ['quota_exceeded'],
    response: LogAnalysis,
  },
  analyzeAgentRunLogs: {
    ...v1,
    tag: 'sandbox',
    method: 'POST',
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/analyze-logs',
    summary: 'Analyze the logs of all sandboxes of a run',
    description: `${how} The body may be left out. 400 when there is nothing to analyze.`,
    scope: 'runs:write',
    bucket: 'log_analysis',
    params: run,
    body: AnalyzeLogsInput,
    problems: ['quota_exceeded'],
    response: LogAnalysis,
  },
  analyzeLogs: {
    ...v1,
    tag: 'sandbox',
    method: 'POST',
    path: '/v1/organizations/{org_id}/sandboxes/analyze-logs',
    summary: 'Analyze the logs of all sandboxes of an organization or a repository',
    description: `${how} The body is optional; by default the last day is analyzed. The same failure of several runs is one finding; \`looked_at\` reports what exceeded the limits.`,
    reach: 'filtered',
    scope: 'runs:write',
    bucket: 'log_analysis',
    params: org,
    body: AnalyzeManyLogsInput,
    problems: ['quota_exceeded', 'not_found'],
    response: LogAnalysis,
  },
} as const satisfies Record<string, Endpoint>
