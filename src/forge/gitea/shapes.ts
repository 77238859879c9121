import { z } from 'zod'

/** The used part of the responses of Gitea and Forgejo. What Go leaves out or has no value for may be absent or null. */
const word = z
  .string()
  .nullish()
  .transform(value => value ?? '')
const date = z.coerce.date().nullish()
const Person = z.object({ id: z.int(), login: z.string() })
const End = z.object({ label: word, ref: word, sha: word, repo_id: z.int().nullish() })

export const Account = z.object({ login: z.string().min(1) })

export const PullRequest = z.object({
  ...{ number: z.int(), html_url: z.string(), title: z.string(), body: word, state: z.string(), draft: z.boolean().nullish() },
  ...{ merged: z.boolean().nullish(), merged_at: date, merge_commit_sha: word, mergeable: z.boolean().nullish() },
  ...{ head: End, base: End },
})
export type PullRequest = z.output<typeof PullRequest>

export const Comment = z.object({
  ...{ id: z.int(), html_url: word, user: Person.nullish(), body: word, issue_url: word, pull_request_url: word },
  ...{ created_at: z.coerce.date(), updated_at: z.coerce.date() },
})
export type Comment = z.output<typeof Comment>

export const Issue = z.object({
  ...{ id: z.int(), number: z.int(), html_url: word, title: z.string(), body: word, user: Person.nullish(), comments: z.int().nullish() },
  ...{ labels: z.array(z.object({ name: z.string() })).nullish(), pull_request: z.object({}).nullish() },
  ...{ created_at: z.coerce.date(), updated_at: z.coerce.date() },
})
export type Issue = z.output<typeof Issue>

/** The number of a pull request as such is not the one that it has as an issue. */
export const Numbered = z.object({ id: z.int() })

/** Events of an issue or pull request. `body` of an added label is `1`. No events are null, not an empty list. */
export const Timeline = z
  .array(
    z.object({
      ...{ id: z.int(), type: word, html_url: word, user: Person.nullish(), body: word, review_id: z.int().nullish() },
      ...{ label: z.object({ name: z.string() }).nullish(), created_at: z.coerce.date(), updated_at: z.coerce.date() },
    }),
  )
  .nullable()
  .transform(rows => rows ?? [])
export type TimelineEvent = z.output<typeof Timeline>[number]

export const Review = z.object({ id: z.int(), state: word, comments_count: z.int().nullish() })

export const ReviewComments = z
  .array(
    z.object({
      ...{ id: z.int(), html_url: word, user: Person.nullish(), body: word },
      ...{ created_at: z.coerce.date(), updated_at: z.coerce.date() },
    }),
  )
  .nullable()
  .transform(rows => rows ?? [])

export const Status = z.object({
  ...{ id: z.int(), context: word, status: z.string(), target_url: word, description: word, created_at: date, updated_at: date },
  creator: Person.nullish(),
})
export type Status = z.output<typeof Status>

export const Permission = z.object({ permission: z.string() })

export const Repository = z.object({
  ...{ full_name: z.string(), default_branch: word, private: z.boolean().nullish(), archived: z.boolean().nullish() },
})
