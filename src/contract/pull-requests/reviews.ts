import { z } from 'zod'

/** The tool by which a model reports its review; the scripted model recognizes the question by it. */
export const REVIEW_TOOL = 'commit_verdict'

const review = {
  verdict: z.enum(['pass', 'fail']).describe('`fail`: it should not continue unchanged'),
  findings: z
    .array(
      z.object({
        path: z.string().nullish().describe('The file that it is about'),
        line: z.int().min(1).nullish().describe('Its line in that file as it is now'),
        severity: z.enum(['error', 'warning', 'info']).describe('`error`: the reason for `fail`'),
        body: z.string().min(1).describe('One or two sentences: the problem, and how to fix it'),
      }),
    )
    .describe('Empty without a remark'),
}
const words = {
  title: z
    .string()
    .trim()
    .min(1)
    .max(200)
    .describe('At most 72 characters, in the imperative: what the change does'),
  body: z
    .string()
    .trim()
    .min(1)
    .max(20_000)
    .describe('Markdown: what was changed and why, and how it was tested'),
}

const isReasoned = ({ verdict, findings }: { verdict: string; findings: unknown[] }) =>
  verdict !== 'fail' || findings.length > 0
const unreasoned = { path: ['findings'], error: '`fail` needs a finding that says why' }

export const Review = z.object(review).refine(isReasoned, unreasoned)

/** The review of commits that will become a new pull request, with its text. */
export const NewPullRequestReview = z.object({ ...review, ...words }).refine(isReasoned, unreasoned)

/** The review of commits that an existing pull request will get, and of its text. */
export const PullRequestReview = z
  .object({
    ...review,
    pull_request: Review.describe(
      'Whether title and description of the pull request are still right with these commits',
    ),
  })
  .refine(isReasoned, unreasoned)

/** Title and description of a new pull request. */
export const PullRequestText = z.object(words)

/** The schema of an answer of a model. */
export type AnswerSchema = z.ZodType

/** Returns the schema as a tool of a model takes it. */
export function schemaOf(answer: AnswerSchema): Record<string, unknown> {
  const { $schema: _of_no_use_there, ...schema } = z.toJSONSchema(answer, { io: 'input' })
  return schema
}
