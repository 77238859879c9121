import { z } from 'zod'
import { type Endpoint, org, repository, v1 } from '../endpoint.ts'
import { Secret, SecretInput, SecretPage, secretName } from '../organizations/secrets.ts'
import { namedPageQuery } from '../page.ts'

const name = { name: secretName() }
const given =
  "Values are encrypted and never returned. With `for_agent` the secret is an environment variable in the sandboxes of agents, and a repository's overrides the organization's; otherwise agents do not get it. Traces, streams and diffs contain `[redacted:NAME]` instead of the value, from the next turn of a run on. Values of fewer than 8 bytes occur in any text and are not redacted: they cannot be given to agents (400)."

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
    query: z.object(namedPageQuery),
    ordered_by: 'name',
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
    query: z.object(namedPageQuery),
    ordered_by: 'name',
    response: SecretPage,
  },
  setRepositorySecret: {
    ...v1,
    tag: 'secrets',
    method: 'PUT',
    path: '/v1/organizations/{org_id}/repos/{repo_id}/secrets/{name}',
    summary: 'Set a secret of a repository',
    description: `${given} At most 100 of them: one more is 409. They are deleted with the repository. \`GIT_TOKEN\`, with \`GIT_USERNAME\` if the server needs a name, are the credentials of the service's own git over https; agents never get them.`,
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
