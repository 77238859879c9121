import { byLimit } from '../../contract/runs/run-limits.ts'
import type { AgentRun } from '../../contract/runs/runs.ts'
import { parseJsonExactly } from '../../core/json/json-text.ts'
import { checksVerdict } from '../../core/pull-requests/checks-verdict.ts'
import { isRecorded } from '../../core/runs/recorded-run.ts'
import { isTerminal } from '../../core/runs/run-transitions.ts'
import { traceUrl } from '../../core/runs/trace-url.ts'
import { waitingOn } from '../../core/runs/waiting-on.ts'
import { plainDecimal } from '../../core/text/plain-decimal.ts'
import type { Db } from '../../store/database.ts'
import { listCheckStates } from '../../store/pull-requests/checks.ts'
import { listPullRequests, type PullRequestRow } from '../../store/pull-requests/pull-requests.ts'
import type { ShownRun } from '../../store/runs/runs.ts'

const iso = (time: Date | null) => time?.toISOString() ?? null

/** Returns the run object of specification.md#run-object from its rows. */
function runObject(
  row: ShownRun,
  pull_requests: PullRequestRow[],
  checks: AgentRun['checks'],
  base_url: string,
): AgentRun {
  return {
    id: row.id,
    organization_id: row.organization_id,
    status: row.status,
    created_at: row.created_at.toISOString(),
    web_url: traceUrl(base_url, row.id),
    result: row.result,
    summary: row.title,
    source_type: row.source_type,
    github_pull_requests: pull_requests.map(shownPullRequest),
    metadata: row.metadata === null ? null : (parseJsonExactly(row.metadata) as Record<string, unknown>),
    status_reason: row.status_reason,
    terminal: isTerminal(row.status),
    phase: row.phase,
    waiting_on: isRecorded(row)
      ? null
      : waitingOn({ ...row, claimable: row.runnable_at !== null, pausing: row.pause_requested_at !== null }),
    queue_position: row.queue_position,
    last_progress_at: row.last_progress_at.toISOString(),
    deadline_at: iso(row.deadline_at),
    stop_requested_at: iso(row.stop_requested_at),
    stop_requested_by: row.stop_requested_by,
    pause_requested_at: iso(row.pause_requested_at),
    pause_requested_by: row.pause_requested_by,
    started_at: iso(row.started_at),
    updated_at: row.updated_at.toISOString(),
    finished_at: iso(row.finished_at),
    error: row.error_code === null ? null : { code: row.error_code, message: row.error_message ?? '' },
    agent_type: row.agent_type,
    model: row.model,
    reasoning_effort: row.reasoning_effort,
    review: row.review,
    tools_off: row.tools_off,
    prompt: row.prompt,
    title: row.title,
    tags: row.tags,
    archived: row.archived,
    repo_id: row.repository_id,
    base_ref: row.base_ref,
    base_sha: row.base_sha,
    // The name is chosen when the run starts; the branch exists once it was pushed.
    branch: row.pushed_sha === null ? null : row.branch,
    user_id: row.user_id,
    turn: row.turn,
    parent_run_id: row.parent_run_id,
    forked_at_seq: row.forked_at_seq,
    total_logs: row.total_logs,
    usage: usageOf(row),
    budget: byLimit(name => shownLimit(row[`budget_${name}`])),
    repo_name: row.repository_name,
    checks,
    banned: row.banned,
  }
}

const shownPullRequest = (pr: PullRequestRow): AgentRun['github_pull_requests'][number] => ({
  id: pr.id,
  title: pr.title,
  url: pr.url,
  created_at: pr.created_at.toISOString(),
  updated_at: pr.updated_at.toISOString(),
  head_branch_name: pr.head_branch,
  number: pr.number,
  state: pr.state,
  base_branch_name: pr.base_branch,
  head_sha: pr.head_sha,
  files_changed: pr.files_changed,
  additions: pr.additions,
  deletions: pr.deletions,
})

/** An amount of money is a decimal string. */
const shownLimit = (value: string | number | null) =>
  typeof value === 'string' ? plainDecimal(value) : value

const usageOf = (row: ShownRun): AgentRun['usage'] => ({
  input_tokens: row.input_tokens,
  output_tokens: row.output_tokens,
  cached_tokens: row.cached_tokens,
  cached_share:
    row.input_tokens > 0
      ? Math.round(Math.min(row.cached_tokens / row.input_tokens, 1) * 1_000) / 1_000
      : null,
  cost_usd: row.cost_known ? plainDecimal(row.cost_usd) : null,
  active_seconds: row.active_ms / 1000,
  estimated_calls: row.estimated_calls,
})

/** Returns the run object of a run that was created in this transaction: it has no pull request. */
export const newRunObject = (row: ShownRun, base_url: string): AgentRun => runObject(row, [], null, base_url)

/**
 * Returns the run objects of several rows, with one query for their pull requests and one for the checks of
 * these.
 */
export async function runObjects(
  db: Db,
  organization_id: number,
  rows: ShownRun[],
  base_url: string,
): Promise<AgentRun[]> {
  const ids = rows.map(row => row.id)
  const pulls = rows.length === 0 ? [] : await listPullRequests(db, organization_id, ids)
  const newest = new Map(pulls.map(pull => [pull.run_id, pull]))
  const checks = newest.size === 0 ? [] : await listCheckStates(db, organization_id, [...newest.values()])
  const checksOf = (pull: PullRequestRow): AgentRun['checks'] => {
    const of_head = checks.filter(
      check => check.repository_id === pull.repository_id && check.head_sha === pull.head_sha,
    )
    const { state, passed, failed, pending } = checksVerdict(of_head)
    return { state, passed, failed, pending }
  }
  return rows.map(row => {
    const pull = newest.get(row.id)
    const own = pulls.filter(({ run_id }) => run_id === row.id)
    return runObject(row, own, pull === undefined ? null : checksOf(pull), base_url)
  })
}
