import type { Ask, SideQuestionJournal, SideQuestionSteps } from '../../agent/side-question.ts'
import type { Reservation } from '../../core/runs/budget-check.ts'
import type { ModelMessage } from '../../model/port.ts'
import { listAsides, newestMessages } from '../../store/runs/journal.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { WorkerDeps } from '../settings.ts'
import { usageOf } from './journal-records.ts'

/** What the worker works with while it brings out what the agent has made: it may ask the model about that. */
export type AskingDeps = WorkerDeps & { ask: Ask }

const NEWEST_MESSAGES = 50

/** Questions to the model besides the conversation, in the journal of the run: each write under the fence. */
export function createSideQuestionJournal(writer: RunWriter): SideQuestionJournal {
  const { organization_id, run_id } = writer
  return {
    async steps(key) {
      const rows = await listAsides(writer.db, organization_id, run_id, key)
      const of = (kind: string) => rows.filter(row => row.kind === kind).map(row => JSON.parse(row.body))
      const started = of('aside_started') as { reservation: Reservation }[]
      return { started: started.map(({ reservation }) => reservation), ended: of('aside_ended') as SideQuestionSteps['ended'] }
    },
    async messages() {
      const bodies = await newestMessages(writer.db, organization_id, run_id, NEWEST_MESSAGES)
      return bodies.toReversed().flatMap(body => (JSON.parse(body) as { messages: ModelMessage[] }).messages)
    },
    async started(key, reservation) {
      const records = [{ kind: 'aside_started' as const, key, body: JSON.stringify({ reservation }) }]
      await writer.append({ records, reserved_usd: reservation.cost_usd ?? '0' })
    },
    async ended(key, ended, charge) {
      const records = [{ kind: 'aside_ended' as const, key, body: JSON.stringify(ended) }]
      const usage = charge && { usage: { ...usageOf(charge), cached_tokens: charge.cached_tokens ?? 0 } }
      await writer.append({ records, reserved_usd: '0', ...usage })
    },
  }
}
