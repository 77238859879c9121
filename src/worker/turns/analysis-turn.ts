import { rebuildConversation } from '../../agent/conversation.ts'
import { explainQuestion, explanationOf } from '../../agent/phases/explain-logs.ts'
import type { LogFinding } from '../../contract/runs/log-analysis.ts'
import { linked, namedEntries } from '../../log-analysis/explanation.ts'
import { resultText } from '../../log-analysis/result.ts'
import { knownEntries } from '../../store/runs/log-analysis.ts'
import { findEntries } from '../../store/runs/log-entries.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import { openRunSecrets } from '../sandbox/run-secrets.ts'
import { askOfRun } from './ask-of-run.ts'
import { endOfControl } from './end-of.ts'
import type { End } from './end-turn.ts'
import { deliverMessages } from './loop-journal.ts'
import { readJournal, recordRecovery } from './recovered-conversation.ts'
import type { TurnOf } from './turn.ts'

/** What was found when the analysis was asked for, as the trace has it. `agent_run_id`: absent where it is about several runs. */
type Found = { tool_input: { agent_run_id?: number }; tool_output: { message: string; findings: LogFinding[] } }

/** Has explained what was found in logs; without a model what was found is the result. It needs no sandbox. */
export async function analysisTurn(of: TurnOf): Promise<End> {
  const { deps, writer, run, control } = of
  const secrets = await openRunSecrets(deps, writer, run)
  await deliverMessages(writer)
  if (run.recovering_since !== null) await recordRecovery(writer, run, rebuildConversation(await readJournal(writer), run.turn))
  if (run.status === 'starting' && !(await writer.move({ from: ['starting'], to: 'running', phase: 'agent' }))) return endOfControl(control)
  if (control.signal.aborted) return endOfControl(control)
  const found = await foundBefore(writer)
  if (found === null)
    return { kind: 'failed', reason: 'agent_error', code: 'nothing_analyzed', message: 'There is no analysis to explain.', phase: 'agent' }
  const { message, findings } = found.tool_output
  const said = explanationOf(await askOfRun(of, secrets)(explainQuestion(message, findings, run.turn)))
  if (control.signal.aborted) return endOfControl(control)
  const about = found.tool_input.agent_run_id ?? null
  const shown = new Set(findings.flatMap(({ agent_run_id, agent_run_ids }) => [agent_run_id, ...agent_run_ids]))
  if (about !== null) shown.add(about)
  const places = said === null ? [] : namedEntries(said, about).filter(({ agent_run_id }) => shown.has(agent_run_id))
  const known = await knownEntries(deps.db, run.organization_id, places)
  const explanation = said === null ? null : linked(said, about, known, deps.base_url)
  return { kind: 'completed', text: await writer.redactor.text(resultText(message, findings, explanation)), thought: null }
}

/** The newest, should there be several. */
async function foundBefore(writer: RunWriter): Promise<Found | null> {
  const filter = { message_type: ['ACTION'], tool_name: ['log_analysis'] }
  const { rows } = await findEntries(writer.db, writer.organization_id, writer.run_id, filter, { skip: 0, limit: 1, reverse: true })
  return rows[0] ? (JSON.parse(rows[0].body) as Found) : null
}
