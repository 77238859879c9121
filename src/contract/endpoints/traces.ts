import { id } from '../decimal.ts'
import { type Endpoint, org, run, v1 } from '../endpoint.ts'
import { exampleEntry, exampleRun } from '../runs/example-run.ts'
import { ListLogsQuery, RunWithLogs } from '../runs/logs.ts'
import { EventsQuery } from '../runs/run-inputs.ts'

const frame = (event: string, data: unknown, id?: number) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** What runs did and do: logs and streams (specification.md#logs, #events). */
export const traceEndpoints = {
  getAgentRunLogs: {
    ...v1,
    tag: 'agents',
    method: 'GET',
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/logs',
    aliases: ['/v1/alpha/organizations/{org_id}/agent/run/{agent_run_id}/logs'],
    summary: 'Retrieve agent run logs',
    description:
      'Entries in the order of their `seq`, which has no gaps, so that `skip` costs nothing. A `skip` beyond the end answers an empty page. With a filter, `skip` counts matches and `pages` follows `filtered_total`.',
    scope: 'logs:read',
    bucket: 'logs',
    stability: 'alpha',
    params: run,
    query: ListLogsQuery,
    response: RunWithLogs,
  },
  getArtifact: {
    ...v1,
    tag: 'agents',
    method: 'GET',
    path: '/v1/organizations/{org_id}/artifacts/{artifact_id}',
    summary: 'The whole output of a tool whose entry shows only part of it',
    description:
      'Byte for byte, as a file: `text/plain`, or `application/octet-stream` when it is no text. Of more than 1 MiB the first and the last half; a line between them says how much is left out of a text.',
    scope: 'logs:read',
    bucket: 'standard',
    params: org.extend({ artifact_id: id().describe('From `artifact_url` of an entry') }),
    response: 'file',
    examples: { response: 'ok 1 - the total counts the discount\n' },
  },
  streamAgentRunEvents: {
    ...v1,
    tag: 'agents',
    method: 'GET',
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/events',
    summary: "A run's trace as it grows, by server-sent events",
    description: [
      'What the trace holds already comes first, then what is added, as it is added. The stream stays open over turns; a reader that takes nothing for ten seconds is cut off and goes on by `Last-Event-ID`.',
      '',
      '- `log`: an entry of the trace; its `id:` is the `seq` of the entry.',
      '- `run`: the run as it is now, first when all entries so far were sent, then whenever it changed. No `id:`.',
      '- `tool`, `output`, `text`: what is happening now and passes: a tool that began, a piece of its output, a piece of what the model says. No `id:`, and never sent again.',
      '- `notice`: limits that the run comes near to, as its agent was just told (`limits`: what is used of what is allowed). No `id:`, and never sent again.',
      '- `deleted`: the run was deleted. The stream ends, and is not found when it is asked for again.',
      '',
    ].join('\n'),
    scope: 'logs:read',
    bucket: 'standard',
    params: run,
    query: EventsQuery,
    response: 'stream',
    examples: { response: frame('log', exampleEntry, exampleEntry.seq) + frame('run', exampleRun) },
  },
  streamOrganizationEvents: {
    ...v1,
    tag: 'agents',
    method: 'GET',
    path: '/v1/organizations/{org_id}/events',
    summary: 'Status changes of all runs, by server-sent events',
    description:
      'Begins with what happens next; with `after_seq` or `Last-Event-ID` with what came after that. Each event `run` has `seq`, `type`, `agent_run_id`, and the `run` as it is now; null when it is deleted (`agent_run.deleted`). `agent_run.limits_near`: its agent was told to wrap up. Events of a deleted run go with it.',
    scope: 'runs:read',
    bucket: 'standard',
    params: org,
    query: EventsQuery,
    response: 'stream',
    examples: { response: frame('run', { seq: 118, type: 'agent_run.status', agent_run_id: exampleRun.id, run: exampleRun }, 118) },
  },
} as const satisfies Record<string, Endpoint>
