import { id } from '../decimal.ts'
import { type Endpoint, org, run, v1 } from '../endpoint.ts'
import { exampleEntry, exampleRun } from '../runs/example-run.ts'
import { LogSearch, SearchLogsQuery } from '../runs/log-search.ts'
import { ListLogsQuery, RunWithLogs } from '../runs/logs.ts'
import { MessageImages, MessageImagesQuery } from '../runs/message-images.ts'
import { EventsQuery } from '../runs/run-inputs.ts'
import { RunTimeline, TimelineQuery } from '../runs/timeline.ts'

const frame = (event: string, data: unknown, id?: number) =>
  `${id === undefined ? '' : `id: ${id}\n`}event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

/** Logs and streams of runs (specification.md#logs, #events). */
export const traceEndpoints = {
  getAgentRunLogs: {
    ...v1,
    tag: 'agents',
    method: 'GET',
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/logs',
    aliases: ['/v1/alpha/organizations/{org_id}/agent/run/{agent_run_id}/logs'],
    summary: 'Retrieve agent run logs',
    description:
      'Entries in the order of their `seq`, which has no gaps, so that `skip` costs nothing. A `skip` beyond the end returns an empty page. With a filter, `skip` counts matches and `pages` follows `filtered_total`.',
    scope: 'logs:read',
    bucket: 'logs',
    stability: 'alpha',
    params: run,
    query: ListLogsQuery,
    ordered_by: 'seq',
    response: RunWithLogs,
  },
  searchAgentRunLogs: {
    ...v1,
    tag: 'agents',
    method: 'GET',
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/logs/search',
    summary: 'Search the logs of an agent run',
    description:
      'Searches oldest first, and ends after some tenths of a second or 10,000 matches: `complete` is then false, and the next request continues with `after_seq` = `searched_to`. The number of all `seqs` together is the number of matching entries. Show a match with its neighbours by `after_seq` and `before_seq` of the logs. Run, `seq`, time and turn of an entry are not searched.',
    scope: 'logs:read',
    bucket: 'logs',
    params: run,
    query: SearchLogsQuery,
    response: LogSearch,
  },
  getAgentRunTimeline: {
    ...v1,
    tag: 'agents',
    method: 'GET',
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/timeline',
    summary: 'Get the timeline of an agent run',
    description:
      'Turns, the items of the plan in each, and the entries in parts, with times, failures and cost: enough for an outline and a minimap of any number of entries. Of more than 300 plans the newest 300 are used.',
    scope: 'logs:read',
    bucket: 'logs',
    params: run,
    query: TimelineQuery,
    response: RunTimeline,
  },
  getMessageImages: {
    ...v1,
    tag: 'agents',
    method: 'GET',
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/images',
    summary: 'Get the images of an entry of an agent run',
    description:
      'The images of a message, or those that a tool returned to a model that accepts images. The trace has only their number. The images of a message of a parent run are at the parent run.',
    scope: 'logs:read',
    bucket: 'logs',
    params: run,
    query: MessageImagesQuery,
    response: MessageImages,
  },
  getArtifact: {
    ...v1,
    tag: 'agents',
    method: 'GET',
    path: '/v1/organizations/{org_id}/artifacts/{artifact_id}',
    summary: 'Get the whole output of a tool whose entry shows only a part',
    description:
      'Byte for byte, as a file: `text/plain`, or `application/octet-stream` when it is not text. Above 1 MiB the first and the last half; a line between them reports how much of a text is omitted.',
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
    summary: 'Follow the trace of a run by server-sent events',
    description: [
      'Existing entries come first, then new ones as they are added. The stream stays open over turns; a reader that reads nothing for ten seconds is disconnected and continues with `Last-Event-ID`.',
      '',
      '- `log`: an entry of the trace; its `id:` is the `seq` of the entry.',
      '- `run`: the current run, first when all entries so far were sent, then whenever it changed. No `id:`.',
      "- `tool`, `output`, `text`: ephemeral events: a tool that started, a piece of its output, a piece of the model's text. No `id:`, and never repeated.",
      '- `so_far`: once after a connection, if there is any: the end of each output and text that continues (`parts`: each as in its event, named by `event`). It replaces the pieces that were sent before. No `id:`.',
      '- `notice`: limits that the run is close to, as reported to its agent (`limits`: use and maximum). No `id:`, and never repeated.',
      '- `deleted`: the run was deleted. The stream ends, and a new request gets 404.',
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
    summary: 'Follow status changes of all runs by server-sent events',
    description:
      'Starts with the next event; with `after_seq` or `Last-Event-ID` with the event after that. Each event `run` has `seq`, `type`, `agent_run_id`, and the current `run`; null when it is deleted (`agent_run.deleted`). `agent_run.limits_near`: its agent was informed of limits that are near. Events of a deleted run are deleted with it.',
    scope: 'runs:read',
    bucket: 'standard',
    params: org,
    query: EventsQuery,
    response: 'stream',
    examples: {
      response: frame(
        'run',
        { seq: 118, type: 'agent_run.status', agent_run_id: exampleRun.id, run: exampleRun },
        118,
      ),
    },
  },
} as const satisfies Record<string, Endpoint>
