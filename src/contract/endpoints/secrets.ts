import { z } from 'zod'
import { type Endpoint, org, repository, v1 } from '../endpoint.ts'
import { Secret, SecretInput, SecretPage, secretName } from '../organizations/secrets.ts'
import { pageQuery } from '../page.ts'

const name = { name: secretName() }
const given =
  "Values are encrypted and never answered. With `for_agent` it is a variable of that name in the sandboxes of agents, a repository's before the organization's; otherwise no agent is given it. In traces, streams and diffs `[redacted:NAME]` stands in its place, from the next turn of a run on. Values of fewer than 8 bytes stand in any text and are not looked for: agents are given none (400)."

/** Secrets of an organization and of its repositories (specification.md#access). */
export const secretEndpoints = {
  listSecrets: {
    ...v1,
    tag: 'secrets',
    method: 'GET',
    path: '/v1/organizations/{org_id}/secrets',
    summary: "List the names of the organization's secrets",
    scope: 'org:admin',
    bucket: 'standard',
    params: org,
    query: z.object(pageQuery),
    response: SecretPage,
  },
  setSecret: {
    ...v1,
    tag: 'secrets',
    method: 'PUT',
    path: '/v1/organizations/{org_id}/secrets/{name}',
    summary: 'Set a secret of the organization',
    description: `${given} At most 100 of them: one more is 409.`,
    scope: 'org:admin',
    bucket: 'standard',
    params: org.extend(name),
    problems: ['conflict'],
    body: SecretInput,
    response: Secret,
  },
  deleteSecret: {
    ...v1,
    tag: 'secrets',
    method: 'DELETE',
    path: '/v1/organizations/{org_id}/secrets/{name}',
    summary: 'Delete a secret of the organization',
    scope: 'org:admin',
    bucket: 'standard',
    params: org.extend(name),
    problems: ['not_found'],
    response: Secret,
  },
  listRepositorySecrets: {
    ...v1,
    tag: 'secrets',
    method: 'GET',
    path: '/v1/organizations/{org_id}/repos/{repo_id}/secrets',
    summary: "List the names of a repository's secrets",
    scope: 'repos:admin',
    bucket: 'standard',
    params: repository,
    query: z.object(pageQuery),
    response: SecretPage,
  },
  setRepositorySecret: {
    ...v1,
    tag: 'secrets',
    method: 'PUT',
    path: '/v1/organizations/{org_id}/repos/{repo_id}/secrets/{name}',
    summary: 'Set a secret of a repository',
    description: `${given} At most 100 of them: one more is 409. They go with the repository when it is removed. \`GIT_TOKEN\`, with \`GIT_USERNAME\` where a name is wanted, is what the service's own git signs in with over https; agents are never given it.`,
    scope: 'repos:admin',
    bucket: 'standard',
    params: repository.extend(name),
    problems: ['conflict'],
    body: SecretInput,
    response: Secret,
  },
  deleteRepositorySecret: {
    ...v1,
    tag: 'secrets',
    method: 'DELETE',
    path: '/v1/organizations/{org_id}/repos/{repo_id}/secrets/{name}',
    summary: 'Delete a secret of a repository',
    scope: 'repos:admin',
    bucket: 'standard',
    params: repository.extend(name),
    problems: ['not_found'],
    response: Secret,
  },
} as const satisfies Record<string, Endpoint>
