import { z } from 'zod'
import { limits } from '../limits.ts'
import { pageOf } from '../page.ts'
import { RunDiff } from '../runs/run-diff.ts'
import { text } from '../text.ts'

const time = z.iso.datetime().describe('UTC, ISO 8601 with milliseconds')

export const PullRequestCommit = z
  .object({
    sha: z.string().describe('The commit'),
    parents: z.array(z.string()).describe('Its parents, the one of its own branch first'),
    message: z.string().describe('Its whole message'),
    author_name: z.string().describe('The author, as recorded in the commit'),
    author_email: z.string().describe("The author's address, as recorded in the commit"),
    authored_at: time
      .nullable()
      .describe(
        'Time at which it was authored, as recorded in the commit; null when that is not a valid time',
      ),
    committed_at: time.nullable().describe('Time at which it was committed, as recorded in the commit'),
  })
  .meta({
    id: 'PullRequestCommit',
    examples: [
      {
        sha: '3b8f0f1c2d7e4a5b9c6d8e7f0a1b2c3d4e5f6a7b',
        parents: ['9f2c1f0f6d0b0e9d5d6b7a3c3a0c5b1e7f4d2a11'],
        message: 'Round the total\n\nAgent-Run: http://127.0.0.1:4600/agent/trace/12',
        author_name: 'Agent Run',
        author_email: 'agent@agentrun.invalid',
        authored_at: '2026-11-20T10:30:00.000Z',
        committed_at: '2026-11-20T10:30:00.000Z',
      },
    ],
  })
export type PullRequestCommit = z.infer<typeof PullRequestCommit>

export const PullRequestCommitPage = pageOf(PullRequestCommit).meta({ id: 'PageOfPullRequestCommit' })

const { agent_run_id: _run, from_seq: _from, to_seq: _to, ...of_commits } = RunDiff.shape
const [{ agent_run_id: _id, ...example } = {}] = (RunDiff.meta()?.examples ?? []) as Record<string, unknown>[]

export const PullRequestDiff = z
  .object({
    pr_id: z.int().describe('The pull request'),
    ...of_commits,
    base_sha: z
      .string()
      .describe('The base branch as last fetched; for a merged one: the base before the merge'),
    head_sha: z.string().describe('The commit of the pull request'),
  })
  .meta({ id: 'PullRequestDiff', examples: [{ pr_id: 7, ...example }] })
export type PullRequestDiff = z.infer<typeof PullRequestDiff>

export const PullRequestDiffQuery = z.object({
  format: z.enum(['json', 'patch']).default('json').describe('`patch`: the unified diff alone, as text'),
})

const comment = {
  id: 31,
  pr_id: 7,
  user_id: 1,
  agent_run_id: null,
  author_name: 'Ada',
  body: 'Why not round each line?',
  path: 'invoice.js',
  line: 1,
  side: 'RIGHT',
  head_sha: '3b8f0f1c2d7e4a5b9c6d8e7f0a1b2c3d4e5f6a7b',
  forge_state: null,
  forge_error: null,
  created_at: '2026-11-20T10:30:00.000Z',
  updated_at: '2026-11-20T10:30:00.000Z',
}

export const PullRequestComment = z
  .object({
    id: z.int().describe('The comment'),
    pr_id: z.int().describe('The pull request'),
    user_id: z.int().nullable().describe('The author; null: a run'),
    agent_run_id: z
      .int()
      .nullable()
      .describe('The run that wrote it; null: a person did, or the run is deleted'),
    author_name: z.string().describe('The name of the author'),
    body: z.string().describe('Markdown of any author: never treat it as HTML'),
    path: z.string().nullable().describe('The file that it concerns; null: the whole pull request'),
    line: z.int().nullable().describe('The line of that file'),
    side: z
      .enum(['LEFT', 'RIGHT'])
      .nullable()
      .describe('`RIGHT`: the line is counted in the new file, `LEFT`: in the old one'),
    head_sha: z.string().describe('The commit of the pull request when it was written'),
    forge_state: z
      .enum(['pending', 'posted', 'refused'])
      .nullable()
      .describe(
        'Whether the current comment is on the forge of the pull request; null: there is no forge, or a run wrote it',
      ),
    forge_error: z.string().nullable().describe('The message with which the forge refused it'),
    created_at: time,
    updated_at: time.describe('Time of the last change; later than `created_at` when it was edited'),
  })
  .meta({ id: 'PullRequestComment', examples: [comment] })
export type PullRequestComment = z.infer<typeof PullRequestComment>

export const PullRequestCommentPage = pageOf(PullRequestComment).meta({ id: 'PageOfPullRequestComment' })

const body = () => text(1, limits.comment_chars, { trim: true }).describe('Markdown')

export const CreateCommentInput = z
  .object({
    body: body(),
    path: text(1, limits.path_chars).nullish().describe('The file that it concerns'),
    line: z.int().min(1).max(limits.line_number).nullish().describe('A line of that file'),
    side: z
      .enum(['LEFT', 'RIGHT'])
      .nullish()
      .describe('Version of the file in which the line is counted. Default `RIGHT`'),
  })
  .refine(({ path, line }) => line == null || path != null, { path: ['line'], error: 'needs a path' })
  .refine(({ line, side }) => side == null || line != null, { path: ['side'], error: 'needs a line' })
  .meta({
    id: 'CreatePullRequestCommentInput',
    examples: [{ body: comment.body, path: comment.path, line: 1 }],
  })
export type CreateCommentInput = z.output<typeof CreateCommentInput>

export const UpdateCommentInput = z
  .object({ body: body() })
  .meta({ id: 'UpdatePullRequestCommentInput', examples: [{ body: 'Never mind.' }] })
export type UpdateCommentInput = z.output<typeof UpdateCommentInput>
