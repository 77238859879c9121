import { z } from 'zod'
import { type Endpoint, org, v1 } from '../endpoint.ts'
import { RepositoryPage } from '../organizations.ts'
import { pageQuery } from '../page.ts'

/** Repositories of an organization (decisions §9). */
export const repositoryEndpoints = {
  listRepositories: {
    ...v1,
    tag: 'repositories',
    method: 'GET',
    path: '/v1/organizations/{org_id}/repos',
    aliases: ['/v1/organizations/{org_id}/repositories'],
    summary: 'List repositories, oldest first',
    reach: 'filtered',
    scope: 'repos:read',
    bucket: 'standard',
    params: org,
    query: z.object(pageQuery),
    response: RepositoryPage,
  },
} as const satisfies Record<string, Endpoint>
