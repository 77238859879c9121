import { id } from '../decimal.ts'
import { type Endpoint, org, repository, v1 } from '../endpoint.ts'
import {
  CheckCommands,
  CheckCommandsInput,
  PullRequestChecks,
  PullRequestChecksQuery,
} from '../pull-requests/checks.ts'

/** Checks that the service runs itself, and the results of all checks of a pull request. */
export const checkEndpoints = {
  getCheckCommands: {
    ...v1,
    tag: 'checks',
    method: 'GET',
    path: '/v1/organizations/{org_id}/repos/{repo_id}/checks',
    summary: 'Get the checks of a repository',
    scope: 'repos:read',
    bucket: 'standard',
    params: repository,
    response: CheckCommands,
  },
  setCheckCommands: {
    ...v1,
    tag: 'checks',
    method: 'PUT',
    path: '/v1/organizations/{org_id}/repos/{repo_id}/checks',
    summary: 'Set the checks of a repository',
    description:
      "Each runs on the commit that a run has pushed, in a separate sandbox: a fresh clone, the setup commands of the repository, then the command, with the network access and the secrets of the run's agent. Failures go back to the agent as configured in `check-suite-settings`. Replaces all checks, from the next push on.",
    scope: 'repos:admin',
    bucket: 'standard',
    params: repository,
    body: CheckCommandsInput,
    response: CheckCommands,
  },
  listPullRequestChecks: {
    ...v1,
    tag: 'checks',
    method: 'GET',
    path: '/v1/organizations/{org_id}/prs/{pr_id}/checks',
    summary: 'Get the check results of a pull request',
    scope: 'runs:read',
    bucket: 'standard',
    params: org.extend({ pr_id: id().describe('The pull request, by its id rather than its number') }),
    query: PullRequestChecksQuery,
    response: PullRequestChecks,
  },
} as const satisfies Record<string, Endpoint>
