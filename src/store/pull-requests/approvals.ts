import type { Db } from '../database.ts'

/** The head that a run which begins to wait wants to push. */
export async function requestApproval(db: Db, organization_id: number, run_id: number, head_sha: string): Promise<void> {
  await db.query({
    name: 'ask_approval',
    text: 'update runs set approval_sha = $3 where organization_id = $1 and id = $2',
    values: [organization_id, run_id, head_sha],
  })
}

/** Lets that head be pushed, and no other. Answers it; undefined: the run waits for no approval. */
export async function recordApproval(db: Db, organization_id: number, run_id: number): Promise<string | undefined> {
  const { rows } = await db.query<{ approved_sha: string }>({
    name: 'give_approval',
    text: `update runs set approved_sha = approval_sha, updated_at = now()
      where organization_id = $1 and id = $2 and status = 'waiting' and waiting_on = 'tool_approval' and approval_sha is not null returning approved_sha`,
    values: [organization_id, run_id],
  })
  return rows[0]?.approved_sha
}
