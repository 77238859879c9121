import { reviewKey } from '../../agent/phases/review.ts'
import type { EndedAttempt, SideAnswer } from '../../agent/side-question.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import { listAsides } from '../../store/runs/journal.ts'
import type { RunWriter } from '../claim/run-writer.ts'

/**
 * Returns the recorded answer to the review of a head, whichever worker received it; null: there was no
 * request.
 */
export async function recordedReview(writer: RunWriter, head: string): Promise<SideAnswer | null> {
  const rows = await listAsides(writer.db, writer.organization_id, writer.run_id, reviewKey(head))
  const ended = rows
    .filter(({ kind }) => kind === 'aside_ended')
    .map(({ body }) => storedJson<EndedAttempt>(body))
  return ended.find(({ asked }) => asked !== undefined)?.asked ?? null
}
