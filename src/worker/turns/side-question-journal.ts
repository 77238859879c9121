import type { SideQuestionJournal, SideQuestionSteps } from '../../agent/side-question.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import { chargeOfLost, type Reservation } from '../../core/runs/budget/pot.ts'
import type { ModelMessage } from '../../model/port.ts'
import { listAsides, newestMessages } from '../../store/runs/journal.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import { record, usageOf } from './journal-records.ts'

const NEWEST_MESSAGES = 50

/** Returns the journal of questions to the model beside the conversation. Every write is fenced. */
export function createSideQuestionJournal(writer: RunWriter): SideQuestionJournal {
  const { organization_id, run_id } = writer
  return {
    async steps(key) {
      const rows = await listAsides(writer.db, organization_id, run_id, key)
      const of = (kind: string) => rows.filter(row => row.kind === kind)
      const started = of('aside_started').map(({ body, created_at }) => {
        const { reservation } = storedJson<{ reservation: Reservation }>(body)
        return chargeOfLost(reservation, Date.now() - created_at.getTime())
      })
      return {
        started,
        ended: of('aside_ended').map(({ body }) => storedJson<SideQuestionSteps['ended'][number]>(body)),
      }
    },
    async messages() {
      const bodies = await newestMessages(writer.db, organization_id, run_id, NEWEST_MESSAGES)
      return bodies.toReversed().flatMap(body => storedJson<{ messages: ModelMessage[] }>(body).messages)
    },
    async started(key, reservation) {
      await writer.append({
        records: [record('aside_started', key, { reservation })],
        reserved_usd: reservation.cost_usd ?? '0',
      })
    },
    async ended(key, ended, charge) {
      const usage = charge && { usage: { ...usageOf(charge), cached_tokens: charge.cached_tokens ?? 0 } }
      await writer.append({ records: [record('aside_ended', key, ended)], reserved_usd: '0', ...usage })
    },
  }
}
