import { digestOfCall } from '../../core/runs/approved-call.ts'
import { ServiceError } from '../../core/service-error.ts'
import type { Db } from '../../store/database.ts'
import { recordApproval } from '../../store/pull-requests/approvals.ts'
import { changeRun } from '../../store/runs/change-run.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { userMessage } from '../../trace/entry.ts'
import { audit } from '../access/audit.ts'
import type { Context } from '../context.ts'
import { byCaller } from './message-source.ts'

/**
 * Approves what a waiting run shows: the push of a commit, or a tool call of an agent of another vendor.
 * `text` is recorded in the trace but not sent to the agent. Throws 409 when no approval is pending, or when
 * another commit or call is pending than the caller saw.
 */
export async function approveWaiting(
  tx: Db,
  ctx: Context,
  run: RunRow,
  text: string,
  expected_head_sha: string | null,
): Promise<void> {
  const approved = await recordApproval(tx, ctx.organization_id, run.id)
  if (approved === undefined)
    throw new ServiceError('invalid_transition', 'The run is not waiting for an approval.')
  const call = digestOfCall(approved)
  const head_sha = call ?? approved
  if (expected_head_sha !== null && expected_head_sha !== head_sha)
    throw new ServiceError(
      'conflict',
      `What waits for approval is ${head_sha}, not ${expected_head_sha}: review it first.`,
    )
  const message = {
    text,
    user_id: ctx.actor.user_id,
    source_type: byCaller(ctx).source_type,
    mode: 'approve',
    images: 0,
  }
  const [action, detail] =
    call === null
      ? (['run.push_approved', { head_sha }] as const)
      : (['run.call_approved', { call }] as const)
  await audit(tx, ctx, action, { type: 'run', id: run.id }, detail)
  await changeRun(tx, run, {
    from: ['waiting'],
    to: 'waiting',
    because: 'answered',
    deadline_seconds: ctx.queue_seconds,
    entries: [userMessage(message)],
    event: { type: 'agent_run.updated' },
  })
}
