import { type Endpoint, org, v1 } from '../endpoint.ts'
import {
  AddSessionLogInput,
  CreateSessionInput,
  RecordedSession,
  SessionId,
  SetSessionStatusInput,
} from '../runs/recorded-sessions.ts'

const session = org.extend({ session_id: SessionId })
const once_stopped = 'After a stop or a ban of the run every report is refused with 409.'

/**
 * Sessions of coding agents outside this service that published clients report
 * (decisions.md#recorded-sessions-are-runs).
 */
export const recordedSessionEndpoints = {
  createClaudeCodeSession: {
    ...v1,
    tag: 'agents',
    method: 'POST',
    path: '/v1/organizations/{org_id}/claude_code/session',
    summary: 'Record a local session as an agent run',
    description:
      'Creates a run with `source_type` `LOCAL` that no worker executes: the session reports its entries and its status. The same `session_id` of the same user returns the same run. Such a run does not count against any limit of runs or cost; it cannot be paused, resumed or forked (409).',
    scope: 'runs:write',
    bucket: 'agent_creation',
    params: org,
    body: CreateSessionInput,
    response: RecordedSession,
  },
  addClaudeCodeLog: {
    ...v1,
    tag: 'agents',
    method: 'POST',
    path: '/v1/organizations/{org_id}/claude_code/session/{session_id}/log',
    summary: 'Add a log entry of a recorded session',
    description: `Added to the run in order of arrival, with secrets redacted and long texts truncated. A tool call is recorded when its result arrives. Logs without an entry type are stored as JSON. A run records at most 20,000 entries. ${once_stopped}`,
    scope: 'runs:write',
    bucket: 'recording',
    params: session,
    problems: ['conflict'],
    body: AddSessionLogInput,
    response: RecordedSession,
  },
  setClaudeCodeStatus: {
    ...v1,
    tag: 'agents',
    method: 'POST',
    path: '/v1/organizations/{org_id}/claude_code/session/{session_id}/status',
    summary: 'Report the status of a recorded session',
    description: `\`COMPLETE\` completes the run with the last text of the agent as its result, \`ERROR\` fails it, \`ACTIVE\` after either starts a new turn. A session without a report for an hour fails with \`timeout\`; its next report starts a new turn. ${once_stopped}`,
    scope: 'runs:write',
    bucket: 'recording',
    params: session,
    problems: ['conflict'],
    body: SetSessionStatusInput,
    response: RecordedSession,
  },
} as const satisfies Record<string, Endpoint>
