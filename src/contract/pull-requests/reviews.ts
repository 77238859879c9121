import { z } from 'zod'

/** The tools by which a model answers questions outside of its conversation; the scripted model recognizes the question by them. */
export const review_tools = { commit: 'commit_verdict', pull_request: 'pull_request_verdict', words: 'pull_request_words' } as const

export const Review = z.object({
  verdict: z.enum(['pass', 'fail']).describe('`fail`: it should not go on as it is'),
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
})

export const PullRequestText = z.object({
  title: z.string().trim().min(1).max(200).describe('At most 72 characters, in the imperative: what the change does'),
  body: z.string().trim().min(1).max(20_000).describe('Markdown: what was changed and why, and how it was tested'),
})

/** Returns the schema as a tool of a model takes it. */
export function schemaOf(answer: z.ZodType): Record<string, unknown> {
  const { $schema: _of_no_use_there, ...schema } = z.toJSONSchema(answer, { io: 'input' })
  return schema
}
