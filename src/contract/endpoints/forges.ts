import { z } from 'zod'
import { id } from '../decimal.ts'
import { type Endpoint, open, org, v1 } from '../endpoint.ts'
import {
  ForgeAddress,
  ForgeConnection,
  ForgeConnectionInput,
  ForgeReceipt,
  ForgeRepositoryPage,
  GitHubDelivery,
  ListForgeRepositoriesQuery,
} from '../forges.ts'

/** Forges that an organization is connected to. */
export const forgeEndpoints = {
  connectGitHub: {
    ...v1,
    tag: 'integrations',
    method: 'PUT',
    path: '/v1/organizations/{org_id}/integrations/github',
    summary: 'Connect GitHub, or a GitHub Enterprise Server',
    description:
      'Repositories whose address is on that host are cloned and pushed with these credentials, and their pull requests are made there. GitHub is asked at once whether it knows them: when it does not, or is away, the connection is kept, and the answer says why it does not work. Private addresses are refused unless the operator allows them.',
    scope: 'org:admin',
    bucket: 'standard',
    params: org,
    body: ForgeConnectionInput,
    problems: ['conflict'],
    response: ForgeConnection,
  },
  disconnectGitHub: {
    ...v1,
    tag: 'integrations',
    method: 'DELETE',
    path: '/v1/organizations/{org_id}/integrations/github',
    summary: 'End the connection to GitHub',
    description: 'Its credentials are forgotten. Pull requests that were made there stay, and what is known of them.',
    scope: 'org:admin',
    bucket: 'standard',
    params: org,
    query: ForgeAddress,
    problems: ['not_found'],
    response: ForgeConnection,
  },
  listGitHubRepositories: {
    ...v1,
    tag: 'integrations',
    method: 'GET',
    path: '/v1/organizations/{org_id}/integrations/github/repositories',
    summary: 'Repositories that the connection shows',
    description:
      'Asked of GitHub now, the first 1,000 at most. None while there is no connection; 409 when GitHub does not know its credentials any more, 503 while it does not answer.',
    scope: 'repos:admin',
    bucket: 'standard',
    params: org,
    query: ListForgeRepositoriesQuery,
    problems: ['conflict'],
    response: ForgeRepositoryPage,
  },
  receiveGitHub: {
    ...open,
    tag: 'integrations',
    method: 'POST',
    path: '/hooks/github/{connection_id}',
    summary: 'Where GitHub sends its webhooks',
    description:
      'Signed with the secret of the connection (`X-Hub-Signature-256`); what is told twice, by its `X-GitHub-Delivery`, is done once. A comment or review that mentions the agent by its name there, or a label of that name, starts a run, or is passed on to the run that has the pull request: for people who may write to the repository, as GitHub says when it is asked, and never for bots or for what is edited afterwards.',
    params: z.object({ connection_id: id().describe('The connection') }),
    body: GitHubDelivery,
    problems: ['unauthorized', 'not_found', 'conflict'],
    response: ForgeReceipt,
  },
} as const satisfies Record<string, Endpoint>
