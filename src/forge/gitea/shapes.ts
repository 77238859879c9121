import { z } from 'zod'
import { count, flag, optional, optionalMoment, required, word } from '../fields.ts'

/**
 * The used part of the responses of Gitea and Forgejo. What Go leaves out or has no value for may be absent
 * or null.
 */
const Person = z.object({ id: z.int(), login: z.string() })
const End = z.object({ label: word, ref: word, sha: word, repo_id: optional(z.int()) })

export const Account = z.object({ login: required.text })

export const PullRequest = z.object({
  number: required.number,
  html_url: word,
  title: word,
  body: word,
  state: required.text,
  draft: flag,
  merged: flag,
  merged_at: optionalMoment,
  closed_at: optionalMoment,
  merge_commit_sha: word,
  mergeable: flag,
  head: End,
  base: End,
})
export type PullRequest = z.output<typeof PullRequest>

const written = { id: required.number, html_url: word, user: optional(Person), body: word }
const dated = { created_at: required.moment, updated_at: required.moment }

export const Comment = z.object({ ...written, ...dated })
export type Comment = z.output<typeof Comment>

export const Issue = z.object({
  ...written,
  ...dated,
  number: required.number,
  title: word,
  comments: count,
  labels: z.array(z.object({ name: word })).catch([]),
  pull_request: z.unknown().optional(),
})
export type Issue = z.output<typeof Issue>

/** The number of a pull request as such is not the one that it has as an issue. */
export const Numbered = z.object({ id: required.number })

/**
 * Events of an issue or pull request. `body` of an added label is `1`. No events are null, not an empty list.
 */
export const Timeline = z
  .array(
    z.object({
      ...written,
      ...dated,
      type: word,
      review_id: optional(z.int()),
      label: optional(z.object({ name: word })),
    }),
  )
  .nullable()
  .transform(rows => rows ?? [])
export type TimelineEvent = z.output<typeof Timeline>[number]

export const Review = z.object({ id: required.number, state: word, comments_count: count })

export const ReviewComments = z
  .array(z.object({ ...written, ...dated }))
  .nullable()
  .transform(rows => rows ?? [])

export const Status = z.object({
  id: required.number,
  context: word,
  status: required.text,
  target_url: word,
  description: word,
  created_at: optionalMoment,
  updated_at: optionalMoment,
  creator: optional(Person),
})
export type Status = z.output<typeof Status>

export const Permission = z.object({ permission: word })

export const Repository = z.object({
  full_name: required.text,
  default_branch: word,
  private: flag,
  archived: flag,
})
