import { type Endpoint, org, v1 } from '../endpoint.ts'
import { Usage, UsageQuery } from '../organizations/usage.ts'

export const usageEndpoints = {
  getUsage: {
    ...v1,
    tag: 'usage',
    method: 'GET',
    path: '/v1/organizations/{org_id}/usage',
    summary: 'Get usage and cost of runs',
    description:
      'Counted immediately, by day (UTC). Deleted runs stay counted. `Accept: text/csv` is the same as `format=csv`. In it, texts that a spreadsheet would take for a formula begin with an apostrophe.',
    scope: 'org:read',
    bucket: 'standard',
    reach: 'none',
    params: org,
    query: UsageQuery,
    response: Usage,
    other_content_types: ['text/csv'],
  },
} as const satisfies Record<string, Endpoint>
