import { type Endpoint, org, repository, v1 } from '../endpoint.ts'
import { Egress, EgressInput, EgressRule } from '../organizations/egress.ts'

const replaced =
  'Replaces all rules: an absent or null key means an empty list. Active runs apply the change within a second or two.'

/** Network access of runs, by organization and repository. */
export const egressEndpoints = {
  getEgress: {
    ...v1,
    tag: 'egress',
    method: 'GET',
    path: '/v1/organizations/{org_id}/egress',
    summary: 'Get the network rules of the organization',
    scope: 'org:read',
    bucket: 'standard',
    params: org,
    response: Egress,
  },
  setEgress: {
    ...v1,
    tag: 'egress',
    method: 'PUT',
    path: '/v1/organizations/{org_id}/egress',
    summary: 'Set the network rules of the organization',
    description: replaced,
    scope: 'org:admin',
    bucket: 'standard',
    params: org,
    body: EgressInput,
    response: Egress,
  },
  getRepositoryEgress: {
    ...v1,
    tag: 'egress',
    method: 'GET',
    path: '/v1/organizations/{org_id}/repos/{repo_id}/egress',
    summary: 'Get the network rules of a repository',
    description: 'The rules of its organization also apply to its runs.',
    scope: 'repos:read',
    bucket: 'standard',
    params: repository,
    response: Egress,
  },
  setRepositoryEgress: {
    ...v1,
    tag: 'egress',
    method: 'PUT',
    path: '/v1/organizations/{org_id}/repos/{repo_id}/egress',
    summary: 'Set the network rules of a repository',
    description: replaced,
    scope: 'repos:admin',
    bucket: 'standard',
    params: repository,
    body: EgressInput,
    response: Egress,
  },
  allowRepositoryEgress: {
    ...v1,
    tag: 'egress',
    method: 'POST',
    path: '/v1/organizations/{org_id}/repos/{repo_id}/egress/allow',
    summary: 'Allow one more host for the runs of a repository',
    description:
      'Adding an existing rule changes nothing. If egress is off (set by the repository, by its organization or by default), the mode of the repository becomes `allowlist` with this rule as the only one of its list; the rules of its organization apply as well. More than 200 rules are 409.',
    scope: 'repos:admin',
    bucket: 'standard',
    params: repository,
    problems: ['conflict'],
    body: EgressRule,
    response: Egress,
  },
} as const satisfies Record<string, Endpoint>
