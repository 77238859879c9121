import { z } from 'zod'
import { type Endpoint, run, v1 } from '../endpoint.ts'
import { pageQuery } from '../page.ts'
import { RelatedRunPage } from '../runs/related-runs.ts'

/** Relations between runs (decisions.md#run-links-only-during-a-turn). */
export const relatedRunEndpoints = {
  listRelatedAgentRuns: {
    ...v1,
    tag: 'agents',
    method: 'GET',
    path: '/v1/organizations/{org_id}/agent/run/{agent_run_id}/related',
    summary: 'List the runs that are related to a run',
    description:
      'Its parent, and its children, forks and log analyses, including archived ones, newest first. Its trace has an entry only for those that were created before its turn ended.',
    reach: 'filtered',
    scope: 'runs:read',
    bucket: 'standard',
    params: run,
    query: z.object(pageQuery),
    response: RelatedRunPage,
  },
} as const satisfies Record<string, Endpoint>
