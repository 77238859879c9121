import { id } from '../decimal.ts'
import { type Endpoint, org, v1 } from '../endpoint.ts'
import {
  EditPullRequestInput,
  EditPullRequestResponse,
  ListPullRequestsQuery,
  MergePullRequestInput,
  PullRequest,
  PullRequestPage,
} from '../pull-requests/pull-requests.ts'

const pull_request = org.extend({
  pr_id: id().describe('The pull request, by its id rather than its number'),
})

const edit = {
  ...v1,
  tag: 'pull-requests',
  method: 'PATCH',
  description:
    'Reopens or closes it, converts it to a draft or back, and changes title, text and base branch: absent fields are unchanged. For an unknown pull request, an impossible state or a missing base branch the response is 200 with `success: false` and `error`, as existing clients expect. A state that it already has is a success.',
  // The response also reports what is out of reach.
  reach: 'verb',
  scope: 'runs:write',
  bucket: 'standard',
  body: EditPullRequestInput,
  response: EditPullRequestResponse,
} as const

/** Pull requests of the built-in forge (specification.md#create-and-resume). */
export const pullRequestEndpoints = {
  listPullRequests: {
    ...v1,
    tag: 'pull-requests',
    method: 'GET',
    path: '/v1/organizations/{org_id}/prs',
    summary: 'List pull requests, newest first',
    description:
      'The first 20 open ones, of 5 repositories, are updated from their branches first; the others are returned as last seen.',
    reach: 'filtered',
    scope: 'runs:read',
    bucket: 'standard',
    params: org,
    query: ListPullRequestsQuery,
    response: PullRequestPage,
  },
  getPullRequest: {
    ...v1,
    tag: 'pull-requests',
    method: 'GET',
    path: '/v1/organizations/{org_id}/prs/{pr_id}',
    summary: 'Get a pull request',
    description:
      'Updated from its repository: a pushed head, a merge or squash, and a deleted head branch, which closes it. As last seen while the repository cannot be reached; a remote one is checked at most every 10 s.',
    scope: 'runs:read',
    bucket: 'standard',
    params: pull_request,
    response: PullRequest,
  },
  mergePullRequest: {
    ...v1,
    tag: 'pull-requests',
    method: 'POST',
    path: '/v1/organizations/{org_id}/prs/{pr_id}/merge',
    summary: 'Merge a pull request into its base branch',
    description:
      'Fetches both branches and pushes one commit to the base branch, never by force. 409 when the head branch has moved since it was last shown, or from `expected_head_sha`. Already merged, here or manually: 200 and the pull request. A conflict is 409 and names the files. If the response is lost, repeat the request: it finds the pushed commit.',
    scope: 'runs:write',
    bucket: 'standard',
    params: pull_request,
    body: MergePullRequestInput,
    response: PullRequest,
    problems: ['conflict'],
  },
  editPullRequest: {
    ...edit,
    path: '/v1/organizations/{org_id}/prs/{pr_id}',
    summary: 'Change a pull request',
    params: pull_request,
  },
  editRepositoryPullRequest: {
    ...edit,
    path: '/v1/organizations/{org_id}/repos/{repo_id}/prs/{pr_id}',
    summary: 'Change a pull request of a repository',
    params: pull_request.extend({ repo_id: id().describe('The repository') }),
  },
} as const satisfies Record<string, Endpoint>
