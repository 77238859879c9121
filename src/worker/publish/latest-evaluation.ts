import { storedJson } from '../../core/json/stored-json.ts'
import type { Verdict } from '../../core/pull-requests/commit-findings.ts'
import { findEntries } from '../../store/runs/log-entries.ts'
import type { RunWriter } from '../claim/run-writer.ts'

/** Returns the newest evaluation of a kind in the trace, whichever worker wrote it. */
export async function latestEvaluation(
  writer: RunWriter,
  message_type: 'PR_EVALUATION' | 'COMMIT_EVALUATION',
): Promise<
  { head_sha?: string; verdict?: Verdict; pr_number?: number; findings_total?: number } | undefined
> {
  const newest = { skip: 0, limit: 1, reverse: true }
  const { rows } = await findEntries(
    writer.db,
    writer.organization_id,
    writer.run_id,
    { message_type: [message_type] },
    newest,
  )
  return rows[0] && storedJson<{ observation: object }>(rows[0].body).observation
}
