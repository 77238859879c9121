import { z } from 'zod'
import { type Endpoint, none, org, v1 } from '../endpoint.ts'
import { Models, OrganizationPage } from '../organizations.ts'
import { pageQuery } from '../page.ts'

/** Organizations and what belongs to one as a whole (spec §Organization data, decisions §9). */
export const organizationEndpoints = {
  listOrganizations: {
    ...v1,
    tag: 'organizations',
    method: 'GET',
    path: '/v1/organizations',
    summary: 'List your organizations',
    scope: 'org:read',
    bucket: 'standard',
    params: none,
    query: z.object(pageQuery),
    response: OrganizationPage,
  },
  listModels: {
    ...v1,
    tag: 'models',
    method: 'GET',
    path: '/v1/organizations/{org_id}/models',
    summary: 'Models that a run can name',
    scope: 'org:read',
    bucket: 'standard',
    params: org,
    response: Models,
  },
} as const satisfies Record<string, Endpoint>
