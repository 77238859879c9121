import { type Endpoint, org, repository, v1 } from '../endpoint.ts'
import { Egress, EgressInput, EgressRule } from '../organizations/egress.ts'

const replaced = 'What is set replaces what was: a key that is absent or null is empty. Runs at work go by it within a second or two.'

/** What runs may reach of the network, by organization and repository. */
export const egressEndpoints = {
  getEgress: {
    ...v1,
    tag: 'egress',
    method: 'GET',
    path: '/v1/organizations/{org_id}/egress',
    summary: 'What runs of the organization may reach',
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
    summary: 'Set what runs of the organization may reach',
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
    summary: 'What runs of a repository may reach besides',
    description: 'What is allowed for its organization is allowed for its runs too.',
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
    summary: 'Set what runs of a repository may reach besides',
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
    summary: 'Allow one host more for the runs of a repository',
    description:
      'Nothing changes when the same rule is there already. Where nothing may be reached (`off`, by the repository, its organization or because nobody has set anything) the mode of the repository becomes `allowlist`, and this rule is all that its list has then; what its organization allows holds with it. More than 200 rules are 409.',
    scope: 'repos:admin',
    bucket: 'standard',
    params: repository,
    problems: ['conflict'],
    body: EgressRule,
    response: Egress,
  },
} as const satisfies Record<string, Endpoint>
