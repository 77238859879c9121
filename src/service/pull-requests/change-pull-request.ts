import type { PullRequestState } from '../../contract/pull-requests/pull-requests.ts'
import { insertAuditEntry } from '../../store/access/audit.ts'
import type { Db, Transactional } from '../../store/database.ts'
import { notifyRun } from '../../store/notify.ts'
import type { PullRequestRow } from '../../store/pull-requests/pull-requests.ts'
import { insertEvent } from '../../store/runs/events.ts'
import { lockRun, updateRun } from '../../store/runs/runs.ts'
import type { Context } from '../context.ts'

type Change = {
  state: PullRequestState
  /** Who did it; null: the service found it in the repository. */
  user_id: number | null
  token_id?: number
  request_id?: string
  /** Of the audit entry; null: there is none. */
  detail: Record<string, unknown> | null
}

/**
 * One change of a pull request with all that belongs to it: event and notification of its run, and the audit entry. False: `update` found the
 * row otherwise than it wanted it, and nothing was written.
 */
export async function recordPullRequestChange(
  db: Transactional,
  { organization_id, run_id, id, number }: PullRequestRow,
  { state, user_id, token_id, request_id, detail }: Change,
  update: (tx: Db) => Promise<boolean>,
): Promise<boolean> {
  return db.transaction(async tx => {
    // The run comes first, as with its worker: otherwise the two could wait for each other.
    const run = run_id === null ? undefined : await lockRun(tx, organization_id, run_id)
    if (!(await update(tx))) return false
    if (run) {
      await updateRun(tx, organization_id, run.id, {})
      const event = { pr_number: number, state, ...(user_id !== null && { user_id }) }
      await insertEvent(tx, organization_id, run.id, 'agent_run.pull_request', event)
      await notifyRun(tx, organization_id, run.id)
    }
    if (detail)
      await insertAuditEntry(tx, {
        ...{ organization_id, user_id, token_id: token_id ?? null, request_id: request_id ?? null },
        action: state === 'merged' ? 'pull_request.merged' : 'pull_request.edited',
        ...{ target_type: 'pull_request', target_id: String(id), detail: JSON.stringify(detail) },
      })
    return true
  })
}

/** The same by the caller. */
export async function changePullRequest(
  ctx: Context,
  pr: PullRequestRow,
  what: { state: PullRequestState; detail: Record<string, unknown> | null },
  update: (tx: Db) => Promise<boolean>,
): Promise<boolean> {
  const { user_id, token_id } = ctx.actor
  return recordPullRequestChange(ctx.db, pr, { ...what, user_id, token_id, request_id: ctx.request_id }, update)
}
