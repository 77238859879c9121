import { z } from 'zod'
import { id } from '../decimal.ts'
import { limits } from '../limits.ts'
import { pageOf, pageQuery } from '../page.ts'
import { several } from '../several.ts'
import { text } from '../text.ts'
import { ChecksSummary } from './checks.ts'

export const PullRequestState = z
  .enum(['open', 'draft', 'closed', 'merged'])
  .meta({ id: 'PullRequestState', description: 'The state of a pull request' })
export type PullRequestState = z.infer<typeof PullRequestState>

/** The words of `verdict` in a `PR_EVALUATION`. */
export const PullRequestReview = z.enum(['pass', 'fail', 'inconclusive', 'none']).meta({
  id: 'PullRequestReview',
  description:
    'The verdict of the service on a pull request; `none`: its newest commit has not been evaluated',
})
export type PullRequestReview = z.infer<typeof PullRequestReview>

const time = z.iso.datetime().describe('UTC, ISO 8601 with milliseconds')

const example = {
  id: 7,
  number: 3,
  organization_id: 1,
  repo_id: 1,
  agent_run_id: 12,
  title: 'Round the total',
  body: 'The total is rounded to cents.',
  url: 'http://127.0.0.1:4600/agent/trace/12?view=changes',
  state: 'open',
  head_branch: 'agent/run-12-round-the-total',
  base_branch: 'main',
  base_sha: '9f2c1f0f6d0b0e9d5d6b7a3c3a0c5b1e7f4d2a11',
  head_sha: '3b8f0f1c2d7e4a5b9c6d8e7f0a1b2c3d4e5f6a7b',
  merge_sha: null,
  mergeable: 'clean',
  review: 'pass',
  checks: { state: 'success', passed: 2, failed: 0, pending: 0, unreadable: [] },
  files_changed: 2,
  additions: 14,
  deletions: 3,
  created_at: '2026-11-20T10:30:00.000Z',
  updated_at: '2026-11-20T10:30:00.000Z',
  merged_at: null,
}

/**
 * A pull request, of the built-in forge or of one that the organization is connected to
 * (specification.md#create-and-resume).
 */
export const PullRequest = z
  .object({
    id: z.int().describe('The pull request'),
    number: z.int().describe('Its number on its forge; the built-in one counts per repository'),
    organization_id: z.int().describe('Organization of the pull request'),
    repo_id: z.int().describe('Its repository'),
    agent_run_id: z
      .int()
      .nullable()
      .describe('The run that proposed it; null: that run was deleted or detached'),
    title: z.string().describe('The title of the run that proposed it, until it is changed'),
    body: z
      .string()
      .describe(
        'Markdown: the answer of the run, in the repository’s template for pull requests if there is one, and a link to the run; or a text that was set later',
      ),
    url: z.string().describe('Its page'),
    state: PullRequestState,
    head_branch: z.string().describe('Branch with the changes'),
    base_branch: z.string().describe('Branch into which it is merged'),
    base_sha: z.string().describe('The commit that the run started from'),
    head_sha: z
      .string()
      .describe('The newest commit of the head branch, which is checked when the pull request is read'),
    merge_sha: z.string().nullable().describe('The commit on the base branch that merged it'),
    mergeable: z
      .enum(['clean', 'conflict', 'unknown'])
      .describe(
        'Computed from the branches as last fetched; `unknown` in lists, when it is merged, and while a branch has not been fetched',
      ),
    review: PullRequestReview.describe('The verdict of the `PR_EVALUATION` of `head_sha`'),
    checks: ChecksSummary.describe('The combined result of the checks of `head_sha`'),
    files_changed: z.int().describe('Number of files'),
    additions: z.int().describe('Lines added'),
    deletions: z.int().describe('Lines removed'),
    created_at: time,
    updated_at: time,
    merged_at: time.nullable(),
  })
  .meta({ id: 'PullRequest', examples: [example] })
export type PullRequest = z.infer<typeof PullRequest>

export const ListPullRequestsQuery = z.object({
  ...pageQuery,
  repo_id: several(id()).describe('Only those of one of these repositories'),
  state: several(PullRequestState).describe('Only those in one of these states'),
  agent_run_id: several(id()).describe('Only those that one of these runs proposed'),
  review: several(PullRequestReview).describe('Only those whose newest commit has one of these verdicts'),
})
export type ListPullRequestsQuery = z.output<typeof ListPullRequestsQuery>

export const PullRequestPage = pageOf(PullRequest).meta({ id: 'PageOfPullRequest' })

export const MergePullRequestInput = z
  .object({
    method: z
      .enum(['merge', 'squash'])
      .default('merge')
      .describe('`merge`: a commit with base and head as parents; `squash`: one commit on the base'),
    expected_head_sha: z
      .string()
      .regex(/^[0-9a-f]{40}$/, 'must be a whole commit SHA')
      .nullish()
      .describe(
        'Merge only while the head branch is at this commit: the one that the person has reviewed. Without it, the one that the service showed last',
      ),
  })
  .default({ method: 'merge' })
  .meta({ id: 'MergePullRequestInput', examples: [{ method: 'merge', expected_head_sha: example.head_sha }] })
export type MergePullRequestInput = z.output<typeof MergePullRequestInput>

/** The form that existing clients send and read (EditPRInput, EditPRResponse); they send only `state`. */
export const EditPullRequestInput = z
  .object({
    state: z
      .enum(['open', 'closed', 'draft', 'ready_for_review'])
      .optional()
      .describe('The new state; `ready_for_review` opens a draft. At least one of these keys is required'),
    title: text(1, limits.title_chars, { trim: true }).optional().describe('Another title'),
    body: text(0, limits.pull_request_body_chars).optional().describe('Another text, Markdown'),
    base_branch: text(1, limits.branch_chars).optional().describe('Another branch into which it is merged'),
  })
  .refine(input => Object.values(input).some(value => value !== undefined), {
    path: ['state'],
    error: 'must be there, or a title, a body or a base_branch',
  })
  .meta({ id: 'EditPRInput', examples: [{ state: 'closed' }] })
export type EditPullRequestInput = z.output<typeof EditPullRequestInput>

export const EditPullRequestResponse = z
  .object({
    success: z.boolean().describe('Whether it is in the requested state'),
    url: z.string().nullable().describe('Its page; null when it is unknown'),
    number: z.int().nullable().describe('Its number in the repository'),
    title: z.string().nullable().describe('Its title'),
    state: z.string().nullable().describe('Its state now'),
    error: z.string().nullable().describe('The reason for which nothing was changed; null on success'),
  })
  .meta({
    id: 'EditPRResponse',
    examples: [
      { success: true, url: example.url, number: 3, title: example.title, state: 'closed', error: null },
    ],
  })
export type EditPullRequestResponse = z.infer<typeof EditPullRequestResponse>
