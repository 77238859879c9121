import { id } from '../decimal.ts'
import { type Endpoint, org, v1 } from '../endpoint.ts'
import {
  ListSandboxesQuery,
  Sandbox,
  SandboxLogPage,
  SandboxLogsQuery,
  SandboxPage,
} from '../repositories/sandboxes.ts'

const sandbox = org.extend({ sandbox_id: id().describe('The sandbox') })

/** Sandboxes of runs (specification.md#setup-and-analysis). */
export const sandboxEndpoints = {
  listSandboxes: {
    ...v1,
    tag: 'sandbox',
    method: 'GET',
    path: '/v1/organizations/{org_id}/sandboxes',
    summary: 'List sandboxes, newest first',
    description:
      'Those that run the agent, setup commands and checks. They are listed as long as their run is kept.',
    reach: 'filtered',
    scope: 'runs:read',
    bucket: 'standard',
    params: org,
    query: ListSandboxesQuery,
    response: SandboxPage,
  },
  getSandbox: {
    ...v1,
    tag: 'sandbox',
    method: 'GET',
    path: '/v1/organizations/{org_id}/sandbox/{sandbox_id}',
    summary: 'Get a sandbox',
    scope: 'runs:read',
    bucket: 'standard',
    params: sandbox,
    response: Sandbox,
  },
  getSandboxLogs: {
    ...v1,
    tag: 'sandbox',
    method: 'GET',
    path: '/v1/organizations/{org_id}/sandbox/{sandbox_id}/logs',
    summary: 'List the trace entries of a sandbox',
    description:
      "The entries of the trace, in the form of the run's logs, oldest first. They are kept after the sandbox has ended.",
    scope: 'logs:read',
    bucket: 'standard',
    params: sandbox,
    query: SandboxLogsQuery,
    ordered_by: 'seq',
    response: SandboxLogPage,
  },
} as const satisfies Record<string, Endpoint>
