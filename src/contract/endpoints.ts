import { z } from 'zod'
import { id } from './decimal.ts'
import { ListLogsQuery, RunWithLogs } from './logs.ts'
import { Models, OrganizationPage, RepositoryPage, User } from './organizations.ts'
import { pageQuery } from './page.ts'
import {
  AgentRun,
  CreateRunInput,
  EventsQuery,
  ListRunsQuery,
  ResumeRunInput,
  RunDiff,
  RunPage,
  RunReference,
  UpdateRunInput,
} from './runs.ts'
import { Health, Readiness, SessionToken, SignedIn, SignedOut, SignInInput } from './service.ts'

export type Scope = 'runs:read' | 'runs:write' | 'logs:read' | 'repos:read' | 'repos:admin' | 'org:read' | 'org:admin'
export type Bucket = 'standard' | 'agent_creation' | 'logs' | 'stream'

export type Endpoint = {
  method: 'GET' | 'POST' | 'PATCH' | 'DELETE'
  path: string
  summary: string
  /** `token`: bearer token; `cookie`: the browser's sign-in cookie, good for /session alone; `public`: nothing. */
  access: 'token' | 'cookie' | 'public'
  scope: Scope | null
  bucket: Bucket | null
  stability: 'stable' | 'alpha'
  params: z.ZodObject
  query: z.ZodObject
  body: z.ZodType | null
  /** `stream` answers server-sent events, `document` the OpenAPI document. */
  response: z.ZodType | 'stream' | 'document'
}

const none = z.object({})
const org = z.object({ org_id: id() })
const run = org.extend({ agent_run_id: id() })
const v1 = { access: 'token', stability: 'stable', query: none, body: null } as const
const open = { access: 'public', scope: null, bucket: null, stability: 'stable', params: none, query: none, body: null } as const

/**
 * THE table. Validation, handler types, routing, the OpenAPI document and clients all come from here;
 * a missing handler does not compile. To add an endpoint: a row here, a verb in service/, a line in http/handlers.ts.
 */
export const endpoints = {
  createAgentRun: {
    ...v1,
    method: 'POST',
    path: '/v1/organizations/{org_id}/agent/run',
    summary: 'Create an agent run',
    scope: 'runs:write',
    bucket: 'agent_creation',
    params: org,
    body: CreateRunInput,
    response: AgentRun,
  },
  getAgentRun: {
    ...v1,
    method: 'GET',
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}',
    summary: 'Get an agent run',
    scope: 'runs:read',
    bucket: 'standard',
    params: run,
    response: AgentRun,
  },
  updateAgentRun: {
    ...v1,
    method: 'PATCH',
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}',
    summary: 'Change title, tags, archive, and model and budget of the next turn',
    scope: 'runs:write',
    bucket: 'standard',
    params: run,
    body: UpdateRunInput,
    response: AgentRun,
  },
  listAgentRuns: {
    ...v1,
    method: 'GET',
    path: '/v1/organizations/{org_id}/agent/runs',
    summary: 'List agent runs, newest first',
    scope: 'runs:read',
    bucket: 'standard',
    params: org,
    query: ListRunsQuery,
    response: RunPage,
  },
  resumeAgentRun: {
    ...v1,
    method: 'POST',
    path: '/v1/organizations/{org_id}/agent/run/resume',
    summary: 'Send a follow-up to an agent run',
    scope: 'runs:write',
    bucket: 'standard',
    params: org,
    body: ResumeRunInput,
    response: AgentRun,
  },
  stopAgentRun: {
    ...v1,
    method: 'POST',
    path: '/v1/organizations/{org_id}/agent/run/stop',
    summary: 'Stop an agent run',
    scope: 'runs:write',
    bucket: 'standard',
    params: org,
    body: RunReference,
    response: AgentRun,
  },
  archiveAgentRun: {
    ...v1,
    method: 'POST',
    path: '/v1/organizations/{org_id}/agent/run/archive',
    summary: 'Take a run out of the default list',
    scope: 'runs:write',
    bucket: 'standard',
    params: org,
    body: RunReference,
    response: AgentRun,
  },
  unarchiveAgentRun: {
    ...v1,
    method: 'POST',
    path: '/v1/organizations/{org_id}/agent/run/unarchive',
    summary: 'Put an archived run back into the default list',
    scope: 'runs:write',
    bucket: 'standard',
    params: org,
    body: RunReference,
    response: AgentRun,
  },
  getAgentRunLogs: {
    ...v1,
    method: 'GET',
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/logs',
    summary: 'Retrieve agent run logs',
    scope: 'logs:read',
    bucket: 'logs',
    stability: 'alpha',
    params: run,
    query: ListLogsQuery,
    response: RunWithLogs,
  },
  getAgentRunDiff: {
    ...v1,
    method: 'GET',
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/diff',
    summary: 'The whole change of a run',
    scope: 'runs:read',
    bucket: 'standard',
    params: run,
    query: z.object({ format: z.enum(['json', 'patch']).default('json') }),
    response: RunDiff,
  },
  streamAgentRunEvents: {
    ...v1,
    method: 'GET',
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/events',
    summary: "A run's trace as it grows, by server-sent events",
    scope: 'logs:read',
    bucket: 'stream',
    params: run,
    query: EventsQuery,
    response: 'stream',
  },
  streamOrganizationEvents: {
    ...v1,
    method: 'GET',
    path: '/v1/organizations/{org_id}/events',
    summary: 'Status changes of all runs, by server-sent events',
    scope: 'runs:read',
    bucket: 'stream',
    params: org,
    query: EventsQuery,
    response: 'stream',
  },
  listOrganizations: {
    ...v1,
    method: 'GET',
    path: '/v1/organizations',
    summary: 'List your organizations',
    scope: 'org:read',
    bucket: 'standard',
    params: none,
    query: z.object(pageQuery),
    response: OrganizationPage,
  },
  getMe: {
    ...v1,
    method: 'GET',
    path: '/v1/users/me',
    summary: 'The user of this token',
    scope: 'org:read',
    bucket: 'standard',
    params: none,
    response: User,
  },
  listRepositories: {
    ...v1,
    method: 'GET',
    path: '/v1/organizations/{org_id}/repos',
    summary: 'List repositories, oldest first',
    scope: 'repos:read',
    bucket: 'standard',
    params: org,
    query: z.object(pageQuery),
    response: RepositoryPage,
  },
  listModels: {
    ...v1,
    method: 'GET',
    path: '/v1/organizations/{org_id}/models',
    summary: 'Models that a run can name',
    scope: 'org:read',
    bucket: 'standard',
    params: org,
    response: Models,
  },
  createSession: {
    ...open,
    method: 'POST',
    path: '/session',
    summary: 'Sign in to the web interface with a one-time code',
    body: SignInInput,
    response: SignedIn,
  },
  createSessionToken: {
    ...open,
    access: 'cookie',
    method: 'POST',
    path: '/session/token',
    summary: 'A bearer token for 15 minutes, for the web interface',
    response: SessionToken,
  },
  deleteSession: {
    ...open,
    access: 'cookie',
    method: 'DELETE',
    path: '/session',
    summary: 'Sign out of the web interface',
    response: SignedOut,
  },
  getHealth: { ...open, method: 'GET', path: '/healthz', summary: 'The process is alive', response: Health },
  getReadiness: {
    ...open,
    method: 'GET',
    path: '/readyz',
    summary: 'The database answers; whether workers can start runs',
    response: Readiness,
  },
  getOpenApi: { ...open, method: 'GET', path: '/openapi.json', summary: 'This document', response: 'document' },
} as const satisfies Record<string, Endpoint>

export type Endpoints = typeof endpoints
export type EndpointName = keyof Endpoints
/** What a handler gets: everything parsed, defaults filled in. */
export type HandlerInput<E extends Endpoint> = {
  params: z.output<E['params']>
  query: z.output<E['query']>
  body: E['body'] extends z.ZodType ? z.output<E['body']> : undefined
}
export type HandlerResult<E extends Endpoint> = E['response'] extends z.ZodType ? z.output<E['response']> : never
