import { z } from 'zod'
import { count, flag, optional, optionalMoment, required, word } from '../fields.ts'

/**
 * The used part of GitHub's responses. Proxies, older servers and new resources leave fields out that its
 * description requires.
 */
export const Account = z.object({ login: required.text })
export const App = z.object({ slug: required.text })
export const ConvertedApp = z.object({
  id: required.id,
  slug: required.text,
  pem: required.text,
  webhook_secret: optional(z.string()),
})
export const Installation = z.object({ id: required.id })
export const InstallationToken = z.object({ token: required.text, expiresAt: required.moment })

const Person = z.object({ login: required.text, type: word })
const text_fields = {
  node_id: word,
  html_url: word,
  body: word,
  user: optional(Person),
  author_association: word,
  performed_via_github_app: z.unknown().optional(),
}
const End = z.object({
  ref: required.text,
  sha: required.text,
  repo: optional(z.object({ id: required.id })),
})

export const PullRequest = z.object({
  number: required.number,
  node_id: word,
  html_url: word,
  state: required.text,
  draft: flag,
  merged: flag,
  merged_at: optionalMoment,
  closed_at: optionalMoment,
  merge_commit_sha: optional(z.string()),
  title: word,
  body: word,
  head: End,
  base: End,
  mergeable: optional(z.boolean()),
})
export type PullRequest = z.output<typeof PullRequest>
/** A merge that did not happen has another status of HTTP. */
export const Merge = z.object({ merged: z.boolean().catch(true), message: word, sha: required.text })

/** An issue, or a pull request as one. Without their number there may be `comments`. */
export const Subject = z.object({
  ...text_fields,
  number: required.number,
  title: word,
  pull_request: z.unknown().optional(),
  labels: z.array(z.union([z.string(), z.object({ name: word }).transform(({ name }) => name)])).catch([]),
  comments: z.int().catch(1),
  created_at: required.moment,
  updated_at: required.moment,
})
export type Subject = z.output<typeof Subject>

export const Numbered = z.object({ id: required.id, node_id: required.text })
export const Comment = z.object({
  ...text_fields,
  id: required.id,
  created_at: required.moment,
  updated_at: optionalMoment,
})
export type Comment = z.output<typeof Comment>
export const Review = z.object({ ...text_fields, id: required.id, submitted_at: optionalMoment })
export const ReviewComment = z.object({
  ...text_fields,
  id: required.id,
  pull_request_review_id: optional(z.number()),
  created_at: required.moment,
})
export const IssueEvent = z.object({
  id: required.id,
  event: word,
  label: optional(z.object({ name: word })),
  actor: optional(Person),
  performed_via_github_app: z.unknown().optional(),
  created_at: required.moment,
})

/** By GraphQL. What cannot be read counts as deleted, not as unedited. */
export const EditedTexts = z.object({
  nodes: z.array(
    optional(z.object({ publishedAt: optionalMoment, lastEditedAt: required.moment.nullable() })),
  ),
})

/** An unreadable result of a check must not count as none. */
const conclusion = z
  .string()
  .nullish()
  .transform(value => value ?? null)
const address = optional(z.string())
export const CheckRun = z.object({
  id: required.id,
  name: required.text,
  app: optional(z.object({ id: required.id, slug: address })),
  external_id: word,
  status: required.text,
  conclusion,
  details_url: address,
  html_url: address,
  output: z.object({ title: word, summary: word, text: word }).catch({ title: '', summary: '', text: '' }),
  started_at: optionalMoment,
  completed_at: optionalMoment,
})
export type CheckRun = z.output<typeof CheckRun>
export const Status = z.object({
  context: required.text,
  state: required.text,
  description: word,
  target_url: address,
  creator: optional(Account),
  created_at: optionalMoment,
  updated_at: optionalMoment,
})
export const WorkflowRun = z.object({
  id: required.id,
  workflow_id: required.id,
  run_number: count,
  name: word,
  path: word,
  event: word,
  display_title: word,
  status: required.text,
  conclusion,
  html_url: word,
  run_started_at: optionalMoment,
  updated_at: optionalMoment,
})

export const Permission = z.object({ permission: word })
export const Repository = z.object({
  full_name: required.text,
  clone_url: required.text,
  default_branch: word,
  private: flag,
  archived: flag,
})
