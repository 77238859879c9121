import { type Endpoint, org, run, v1 } from '../endpoint.ts'
import { ListLogsQuery, RunWithLogs } from '../logs.ts'
import { EventsQuery } from '../run-inputs.ts'

/** What runs did and do: logs and streams (spec §Retrieve agent run logs, decisions §5, §10). */
export const traceEndpoints = {
  getAgentRunLogs: {
    ...v1,
    tag: 'agents',
    method: 'GET',
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/logs',
    aliases: ['/v1/alpha/organizations/{org_id}/agent/run/{agent_run_id}/logs'],
    summary: 'Retrieve agent run logs',
    scope: 'logs:read',
    bucket: 'logs',
    stability: 'alpha',
    params: run,
    query: ListLogsQuery,
    response: RunWithLogs,
  },
  streamAgentRunEvents: {
    ...v1,
    tag: 'agents',
    method: 'GET',
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/events',
    summary: "A run's trace as it grows, by server-sent events",
    scope: 'logs:read',
    bucket: 'standard',
    params: run,
    query: EventsQuery,
    response: 'stream',
  },
  streamOrganizationEvents: {
    ...v1,
    tag: 'agents',
    method: 'GET',
    path: '/v1/organizations/{org_id}/events',
    summary: 'Status changes of all runs, by server-sent events',
    scope: 'runs:read',
    bucket: 'standard',
    params: org,
    query: EventsQuery,
    response: 'stream',
  },
} as const satisfies Record<string, Endpoint>
