import { rebuildConversation } from '../../agent/conversation.ts'
import { explainQuestion, explanationOf } from '../../agent/phases/explain-logs.ts'
import type { LogFinding } from '../../contract/runs/log-analysis.ts'
import { linked, namedPlaces } from '../../log-analysis/explanation.ts'
import { resultText } from '../../log-analysis/result.ts'
import { knownEntries } from '../../store/runs/log-analysis.ts'
import { findEntries } from '../../store/runs/log-entries.ts'
import type { Claim } from '../claim/run-writer.ts'
import { openRunSecrets } from '../sandbox/run-secrets.ts'
import { askOfRun } from './ask-of-run.ts'
import { endOfControl } from './end-of.ts'
import type { End } from './end-turn.ts'
import { createLoopJournal, readJournal, recordRecovery } from './loop-journal.ts'
import type { TurnOf } from './turn.ts'

/** What was found when the analysis was asked for, as the trace has it. `agent_run_id`: absent where it is about several runs. */
type Found = { tool_input: { agent_run_id?: number }; tool_output: { message: string; findings: LogFinding[] } }

/** Has explained what was found in logs; without a model what was found is the result. It needs no sandbox. */
export async function analysisTurn(of: TurnOf): Promise<End> {
  const { deps, claim, run, control } = of
  const secrets = await openRunSecrets(deps, claim, run)
  await createLoopJournal(claim, run.model, () => undefined).deliver()
  if (run.recovering_since !== null) await recordRecovery(claim, run, rebuildConversation(await readJournal(claim), run.turn))
  if (run.status === 'starting' && !(await claim.move({ from: ['starting'], to: 'running', phase: 'agent' }))) return endOfControl(control)
  if (control.signal.aborted) return endOfControl(control)
  const found = await foundBefore(claim)
  if (found === null)
    return { kind: 'failed', reason: 'agent_error', code: 'nothing_analyzed', message: 'There is no analysis to explain.', phase: 'agent' }
  const { message, findings } = found.tool_output
  const said = explanationOf(await askOfRun(of, secrets)(explainQuestion(message, findings, run.turn)))
  if (control.signal.aborted) return endOfControl(control)
  const about = found.tool_input.agent_run_id ?? null
  const shown = new Set(findings.flatMap(({ agent_run_id, agent_run_ids }) => [agent_run_id, ...agent_run_ids]))
  if (about !== null) shown.add(about)
  const places = said === null ? [] : namedPlaces(said, about).filter(({ agent_run_id }) => shown.has(agent_run_id))
  const known = await knownEntries(deps.db, run.organization_id, places)
  const explanation = said === null ? null : linked(said, about, known, deps.base_url)
  return { kind: 'completed', text: await claim.redactor.text(resultText(message, findings, explanation)), thought: null }
}

/** The newest, should there be several. */
async function foundBefore(claim: Claim): Promise<Found | null> {
  const filter = { message_type: ['ACTION'], tool_name: ['log_analysis'] }
  const { rows } = await findEntries(claim.db, claim.organization_id, claim.run_id, filter, { skip: 0, limit: 1, reverse: true })
  return rows[0] ? (JSON.parse(rows[0].body) as Found) : null
}
