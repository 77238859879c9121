import { changedOne, type Db } from '../database.ts'
import { isHeldBy } from '../fence.ts'

/** Records what a run requests approval of: the head that it would push, or the digest of a tool call. */
export async function requestApproval(
  db: Db,
  organization_id: number,
  run_id: number,
  head_sha: string,
): Promise<void> {
  await db.query({
    name: 'request_approval',
    text: 'update runs set approval_sha = $3 where organization_id = $1 and id = $2',
    values: [organization_id, run_id, head_sha],
  })
}

/**
 * Approves what the run requests, and nothing else. Returns it; undefined when the run is not waiting for
 * approval.
 */
export async function recordApproval(
  db: Db,
  organization_id: number,
  run_id: number,
): Promise<string | undefined> {
  const { rows } = await db.query<{ approved_sha: string }>({
    name: 'record_approval',
    text: `update runs
      set approved_sha = approval_sha, updated_at = now()
      where organization_id = $1
        and id = $2
        and status = 'waiting'
        and waiting_on = 'tool_approval'
        and approval_sha is not null
      returning approved_sha`,
    values: [organization_id, run_id],
  })
  return rows[0]?.approved_sha
}

/** An approval of one call, as the run has it, and the claim that takes it. */
type TakenApproval = { organization_id: number; run_id: number; epoch: number; approved: string }

/**
 * Takes an approval, which then exists no more. Returns false when the run no longer has it, or another
 * worker owns the run: then nothing is permitted.
 */
export function takeApproval(
  db: Db,
  { organization_id, run_id, epoch, approved }: TakenApproval,
): Promise<boolean> {
  return changedOne(db, {
    name: 'take_approval',
    text: `update runs
      set approved_sha = null, updated_at = now()
      where organization_id = $1 and id = $2 and ${isHeldBy('$3')} and approved_sha = $4`,
    values: [organization_id, run_id, epoch, approved],
  })
}
