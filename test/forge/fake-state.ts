import { gitIn } from '../runs/coding-app.ts'
import { exampleOf } from './description.ts'

// biome-ignore lint/suspicious/noExplicitAny: responses are built on the published examples
type Json = any

export type FakePull = {
  number: number
  state: 'open' | 'closed'
  draft: boolean
  merged_sha: string | null
  title: string
  body: string
  head: string
  base: string
  /** Its branch is in another repository. */
  of_fork?: true
  user?: string
  created_at?: string
  edited_at?: string
}
export type FakeIssue = {
  number: number
  user: string
  title: string
  body: string
  created_at: string
  edited_at?: string
}
export type FakeReview = {
  id: number
  number: number
  user: string
  body: string
  submitted_at: string
  edited_at?: string
}
/** Written before its review was sent. */
export type FakeRemark = {
  id: number
  number: number
  review_id: number
  user: string
  body: string
  created_at: string
  edited_at?: string
}
export type FakeLabeling = {
  id: number
  number: number
  user: string
  label: string
  given: boolean
  at: string
}
/** Of the title of an issue. */
export type FakeRenaming = { id: number; number: number; user: string; at: string }
/** A label event; an issue is invented if none has that number. */
export type FakeComment = {
  id: number
  number: number
  user: string
  body: string
  created_at?: string
  updated_at?: string
}
export type FakeCheck = {
  sha: string
  name: string
  app: string
  status: 'queued' | 'in_progress' | 'completed'
  conclusion: string | null
  summary: string
  /** Of one that an app has created through the API. */
  made?: { id: number; app_id: number; external_id: string; details_url: string; title: string }
}
export type FakeWorkflowRun = {
  sha: string
  name: string
  status: 'queued' | 'in_progress' | 'completed'
  conclusion: string | null
  workflow_id?: number
}
export type FakeStatus = {
  sha: string
  context: string
  /** GitHub has no `warning`. */
  state: 'pending' | 'success' | 'failure' | 'error' | 'warning'
  description: string
  creator?: string
  target_url?: string
}

/** The content of one repository of the fake, and how GitHub reports it. */
export class FakeState {
  readonly owner: string
  readonly repo: string
  readonly folder: string
  readonly origin: string
  pulls: FakePull[] = []
  comments: FakeComment[] = []
  issues: FakeIssue[] = []
  reviews: FakeReview[] = []
  remarks: FakeRemark[] = []
  labelings: FakeLabeling[] = []
  renamings: FakeRenaming[] = []
  checks: FakeCheck[] = []
  statuses: FakeStatus[] = []
  workflow_runs: FakeWorkflowRun[] = []
  /** Operations that the credentials lack the permission for. */
  refused = new Set<string>()
  /** GitHub has no `owner`. */
  permissions = new Map<string, 'owner' | 'admin' | 'write' | 'read'>()
  /** The time of its clock; null: the same as ours. */
  clock: string | null = null
  drafts_allowed = true
  /** Whether the owner lets the app write checks. */
  checks_allowed = true
  made_checks = 0
  made_comments = 0

  constructor(options: { owner: string; repo: string; folder: string; origin: string }) {
    this.owner = options.owner
    this.repo = options.repo
    this.folder = options.folder
    this.origin = options.origin
  }

  get api(): string {
    return `${this.origin}/api/v3/repos/${this.owner}/${this.repo}`
  }

  /** Null: the branch does not exist. */
  sha(branch: string): string | null {
    try {
      return gitIn(this.folder, 'rev-parse', '--verify', '--quiet', `refs/heads/${branch}`).trim()
    } catch {
      return null
    }
  }

  hasCommit(sha: string): boolean {
    try {
      return gitIn(this.folder, 'cat-file', '-t', sha).trim() === 'commit'
    } catch {
      return false
    }
  }

  pullObject(pull: FakePull, form: 'whole' | 'simple'): Json {
    const simple = form === 'simple'
    const example = exampleOf(
      'GET',
      simple ? '/repos/{owner}/{repo}/pulls' : '/repos/{owner}/{repo}/pulls/{pull_number}',
      200,
    )
    const base = simple ? example[0] : example
    const end = (branch: string, side: Json, sha = this.sha(branch)) => ({
      ...side,
      ref: branch,
      label: `${this.owner}:${branch}`,
      sha: sha ?? '0'.repeat(40),
    })
    const ended = pull.state === 'closed' ? '2026-11-22T10:00:00Z' : null
    return {
      ...base,
      id: 1_000 + pull.number,
      number: pull.number,
      node_id: `PR_${pull.number}`,
      state: pull.state,
      title: pull.title,
      body: pull.body,
      draft: pull.draft,
      requested_teams: [],
      url: `${this.api}/pulls/${pull.number}`,
      html_url: `${this.origin}/${this.owner}/${this.repo}/pull/${pull.number}`,
      head: end(pull.head, base.head),
      base: end(pull.base, base.base),
      closed_at: ended,
      merged_at: pull.merged_sha === null ? null : ended,
      merge_commit_sha: pull.merged_sha ?? null,
      ...(!simple && {
        merged: pull.merged_sha !== null,
        mergeable: pull.state === 'open' ? true : null,
        merged_by: pull.merged_sha === null ? null : base.merged_by,
      }),
    }
  }

  commentObject({
    id,
    number,
    user,
    body,
    created_at = new Date().toISOString(),
    updated_at = created_at,
  }: FakeComment): Json {
    const base = exampleOf('POST', '/repos/{owner}/{repo}/issues/{issue_number}/comments', 201)
    return {
      ...base,
      id,
      node_id: `IC_${id}`,
      body,
      url: `${this.api}/issues/comments/${id}`,
      created_at,
      updated_at,
      user: { ...base.user, login: user, type: user.endsWith('[bot]') ? 'Bot' : 'User' },
      html_url: `${this.origin}/${this.owner}/${this.repo}/${this.pulls.some(pull => pull.number === number) ? 'pull' : 'issues'}/${number}#issuecomment-${id}`,
      issue_url: `${this.api}/issues/${number}`,
    }
  }

  checkObject(check: FakeCheck, id: number): Json {
    const [base] = exampleOf('GET', '/repos/{owner}/{repo}/commits/{ref}/check-runs', 200).check_runs
    const done = check.status === 'completed'
    const { made } = check
    return {
      ...base,
      id: made?.id ?? id,
      head_sha: check.sha,
      name: check.name,
      status: check.status,
      conclusion: check.conclusion,
      external_id: made?.external_id ?? '',
      completed_at: done ? base.completed_at : null,
      output: { ...base.output, title: made?.title ?? check.name, summary: check.summary, text: null },
      details_url: made?.details_url ?? `${this.origin}/checks/${id}`,
      app: { ...base.app, slug: check.app, ...(made && { id: made.app_id }) },
    }
  }

  workflowRunObject({ sha, name, status, conclusion, workflow_id = 1 }: FakeWorkflowRun, id: number): Json {
    const [base] = exampleOf('GET', '/repos/{owner}/{repo}/actions/runs', 200).workflow_runs
    const html_url = `${this.origin}/${this.owner}/${this.repo}/actions/runs/${id}`
    return { ...base, id, name, status, conclusion, workflow_id, head_sha: sha, html_url }
  }

  statusObject(status: FakeStatus, id: number): Json {
    const [base] = exampleOf('GET', '/repos/{owner}/{repo}/commits/{ref}/statuses', 200)
    const { state, context, description, creator = 'ci-bot', target_url = null } = status
    return {
      ...base,
      id,
      state,
      context,
      description,
      target_url,
      creator: { ...base.creator, login: creator },
    }
  }

  /** As GitHub does it: base and head as parents, on the base branch. */
  merge(pull: FakePull, message: string): string {
    const [base, head] = [this.sha(pull.base) ?? '', this.sha(pull.head) ?? '']
    const tree = gitIn(this.folder, 'merge-tree', '--write-tree', base, head).trim().split('\n')[0] ?? ''
    const sha = gitIn(this.folder, 'commit-tree', tree, '-p', base, '-p', head, '-m', message).trim()
    gitIn(this.folder, 'update-ref', `refs/heads/${pull.base}`, sha)
    pull.state = 'closed'
    pull.merged_sha = sha
    return sha
  }
}
