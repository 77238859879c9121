import type { PullRequestState } from '../../contract/pull-requests/pull-requests.ts'
import { insertAuditEntry } from '../../store/access/audit.ts'
import type { Db, Transactional } from '../../store/database.ts'
import type { PullRequestRow } from '../../store/pull-requests/pull-requests.ts'
import { reportRun } from '../../store/runs/change-run.ts'
import { updateRun } from '../../store/runs/run-changes.ts'
import { lockRun } from '../../store/runs/runs.ts'
import type { Context } from '../context.ts'

type Change = {
  state: PullRequestState
  /** The user who changed it; null: the service detected the change in the repository. */
  user_id: number | null
  token_id?: number
  request_id?: string
  /** The detail of the audit entry; null: no entry is written. */
  detail: Record<string, unknown> | null
}

/**
 * Records one change of a pull request together with the event and notification of its run, and the audit
 * entry. Returns false when `update` found the row in another state; then nothing was written.
 */
export async function recordPullRequestChange(
  db: Transactional,
  { organization_id, run_id, id, number }: PullRequestRow,
  { state, user_id, token_id, request_id, detail }: Change,
  update: (tx: Db) => Promise<boolean>,
): Promise<boolean> {
  return db.transaction(async tx => {
    // Locks the run first, in the same order as its worker, to prevent a deadlock.
    const run = run_id === null ? undefined : await lockRun(tx, organization_id, run_id)
    if (!(await update(tx))) return false
    if (run) {
      await updateRun(tx, organization_id, run.id, {})
      const body = { pr_number: number, state, ...(user_id !== null && { user_id }) }
      await reportRun(tx, run, { event: { type: 'agent_run.pull_request', body } })
    }
    if (detail)
      await insertAuditEntry(tx, {
        organization_id,
        user_id,
        token_id: token_id ?? null,
        request_id: request_id ?? null,
        action: state === 'merged' ? 'pull_request.merged' : 'pull_request.edited',
        target_type: 'pull_request',
        target_id: String(id),
        detail,
      })
    return true
  })
}

/** Records a change that the caller made. */
export async function changePullRequest(
  ctx: Context,
  pr: PullRequestRow,
  change: { state: PullRequestState; detail: Record<string, unknown> | null },
  update: (tx: Db) => Promise<boolean>,
): Promise<boolean> {
  const { user_id, token_id } = ctx.actor
  return recordPullRequestChange(
    ctx.db,
    pr,
    { ...change, user_id, token_id, request_id: ctx.request_id },
    update,
  )
}
