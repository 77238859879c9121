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

const pull_request = org.extend({ pr_id: id().describe('The pull request, by its id rather than its number') })
const of_pull_request = { ...v1, tag: 'pull-requests', bucket: 'standard', params: pull_request } as const
const comment = { ...of_pull_request, params: pull_request.extend({ comment_id: id().describe('The comment') }) } as const

/** What a pull request is made of, and what is said of it. */
export const pullRequestContentEndpoints = {
  listPullRequestCommits: {
    ...of_pull_request,
    method: 'GET',
    path: '/v1/organizations/{org_id}/prs/{pr_id}/commits',
    summary: 'List the commits of a pull request, oldest first',
    description: 'Those that its base has not. 409 when the repository has the commit of the pull request no more.',
    scope: 'runs:read',
    query: z.object(pageQuery),
    problems: ['conflict'],
    response: PullRequestCommitPage,
  },
  getPullRequestDiff: {
    ...of_pull_request,
    method: 'GET',
    path: '/v1/organizations/{org_id}/prs/{pr_id}/diff',
    summary: 'The change of a pull request',
    description: 'Since it parted from its base: what the base has besides is no part of it.',
    scope: 'runs:read',
    query: PullRequestDiffQuery,
    problems: ['conflict'],
    response: PullRequestDiff,
    also_answers: ['text/x-patch'],
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
      'For people to read: the run that proposed it is told nothing. Values of secrets are taken out. Where the pull request is on a forge it is said there too, in the name of who is connected; `forge_state` says whether it was.',
    scope: 'runs:write',
    idempotent: true,
    body: CreateCommentInput,
    response: PullRequestComment,
  },
  updatePullRequestComment: {
    ...comment,
    method: 'PATCH',
    path: '/v1/organizations/{org_id}/prs/{pr_id}/comments/{comment_id}',
    summary: 'Change a comment of yours',
    scope: 'runs:write',
    body: UpdateCommentInput,
    response: PullRequestComment,
  },
  deletePullRequestComment: {
    ...comment,
    method: 'DELETE',
    path: '/v1/organizations/{org_id}/prs/{pr_id}/comments/{comment_id}',
    summary: 'Delete a comment of yours',
    description: 'Answers it as it was.',
    scope: 'runs:write',
    response: PullRequestComment,
  },
} as const satisfies Record<string, Endpoint>
