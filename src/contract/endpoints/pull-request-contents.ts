import { z } from 'zod'
import { id } from '../decimal.ts'
import { type Endpoint, org, v1 } from '../endpoint.ts'
import { pageQuery } from '../page.ts'
import {
  CreateCommentInput,
  PullRequestComment,
  PullRequestCommentPage,
  PullRequestCommitPage,
  PullRequestDiff,
  PullRequestDiffQuery,
  UpdateCommentInput,
} from '../pull-requests/pull-request-contents.ts'

const pull_request = org.extend({
  pr_id: id().describe('The pull request, by its id rather than its number'),
})
const of_pull_request = { ...v1, tag: 'pull-requests', bucket: 'standard', params: pull_request } as const
const comment = {
  ...of_pull_request,
  params: pull_request.extend({ comment_id: id().describe('The comment') }),
} as const

/** The contents of a pull request, and its comments. */
export const pullRequestContentEndpoints = {
  listPullRequestCommits: {
    ...of_pull_request,
    method: 'GET',
    path: '/v1/organizations/{org_id}/prs/{pr_id}/commits',
    summary: 'List the commits of a pull request, oldest first',
    description:
      'Those that are not in its base. 409 when the repository no longer has the commit of the pull request.',
    scope: 'runs:read',
    query: z.object(pageQuery),
    ordered_by: 'position',
    problems: ['conflict'],
    response: PullRequestCommitPage,
  },
  getPullRequestDiff: {
    ...of_pull_request,
    method: 'GET',
    path: '/v1/organizations/{org_id}/prs/{pr_id}/diff',
    summary: 'Get the diff of a pull request',
    description: 'Since its merge base: other changes of the base are not included.',
    scope: 'runs:read',
    query: PullRequestDiffQuery,
    problems: ['conflict'],
    response: PullRequestDiff,
    other_content_types: ['text/x-patch'],
  },
  listPullRequestComments: {
    ...of_pull_request,
    method: 'GET',
    path: '/v1/organizations/{org_id}/prs/{pr_id}/comments',
    summary: 'List comments, oldest first',
    scope: 'runs:read',
    query: z.object(pageQuery),
    response: PullRequestCommentPage,
  },
  createPullRequestComment: {
    ...of_pull_request,
    method: 'POST',
    path: '/v1/organizations/{org_id}/prs/{pr_id}/comments',
    summary: 'Comment on a pull request',
    description:
      'The comment is for people: the agent of the run is not informed. Values of secrets are redacted. If the pull request is on a forge, the comment is created there too, in the name of the connection; `forge_state` reports the result.',
    scope: 'runs:write',
    idempotent: true,
    body: CreateCommentInput,
    response: PullRequestComment,
  },
  updatePullRequestComment: {
    ...comment,
    method: 'PATCH',
    path: '/v1/organizations/{org_id}/prs/{pr_id}/comments/{comment_id}',
    summary: 'Change your own comment',
    scope: 'runs:write',
    body: UpdateCommentInput,
    response: PullRequestComment,
  },
  deletePullRequestComment: {
    ...comment,
    method: 'DELETE',
    path: '/v1/organizations/{org_id}/prs/{pr_id}/comments/{comment_id}',
    summary: 'Delete your own comment',
    description: 'Returns the deleted comment.',
    scope: 'runs:write',
    response: PullRequestComment,
  },
} as const satisfies Record<string, Endpoint>
