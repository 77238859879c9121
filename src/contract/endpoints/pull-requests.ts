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

const pull_request = org.extend({ pr_id: id().describe('The pull request, by its id rather than its number') })

const edit = {
  ...v1,
  tag: 'pull-requests',
  method: 'PATCH',
  description:
    'Opens it again, closes it, makes a draft of it or takes that back, and changes title, text and base branch: what is not given stays. An unknown pull request, a state that this one cannot take, or a base that there is not answers 200 with `success: false` and `error`, as existing clients expect. A state that it has already is a success.',
  // What is out of reach is said in the answer, too.
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
      'The first 20 open ones, of 5 repositories, are brought up to date with their branches first; the others are shown as they were seen last.',
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
      'Up to date with its repository: a head that somebody pushed, a merge or squash made there, and a deleted head branch, which closes it. As it was seen last while the repository cannot be reached; a remote one is checked every 10 s at most.',
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
      'Fetches both branches and pushes one commit to the base branch, never by force. A head branch that has moved since it was shown last, or from `expected_head_sha`, is 409. Already merged, here or by hand: 200 and the pull request. A conflict is 409 and names the files. When the answer is lost, ask again: what was pushed is found.',
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
