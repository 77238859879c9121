import { rebuildConversation } from '../../agent/conversation.ts'
import { explainQuestion, explanationOf } from '../../agent/phases/explain-logs.ts'
import { actionTool } from '../../contract/runs/action-tools.ts'
import type { LogFinding } from '../../contract/runs/log-analysis.ts'
import { storedJson } from '../../core/json/stored-json.ts'
import { completed, type TurnOutcome } from '../../core/runs/outcome.ts'
import { linked, namedEntries } from '../../log-analysis/explanation.ts'
import { resultText } from '../../log-analysis/result.ts'
import { knownEntries } from '../../store/runs/log-analysis.ts'
import { findEntries } from '../../store/runs/log-entries.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import { openRunSecrets } from '../sandbox/run-secrets.ts'
import { deliverMessages } from './loop-journal.ts'
import { questionSenderOfRun } from './question-senders.ts'
import { readJournal, recordRecovery } from './recovered-conversation.ts'
import type { TurnContext } from './turn.ts'

/**
 * The findings of the requested analysis as the trace has them. `agent_run_id`: absent if it is about several
 * runs.
 */
type AnalysisResult = {
  tool_input: { agent_run_id?: number }
  tool_output: { message: string; findings: LogFinding[] }
}

/**
 * Asks the model to explain findings in logs; without a model the findings are the result. Needs no sandbox.
 */
export async function analysisTurn(context: TurnContext): Promise<TurnOutcome> {
  const { deps, writer, run, control } = context
  const secrets = await openRunSecrets(deps, writer, run)
  await deliverMessages(writer)
  if (run.recovering_since !== null)
    await recordRecovery(writer, run, rebuildConversation(await readJournal(writer), run.turn))
  if (
    run.status === 'starting' &&
    !(await writer.change({ from: ['starting'], to: 'running', phase: 'agent' }))
  )
    return { kind: 'stop' }
  if (control.signal.aborted) return { kind: 'stop' }
  const found = await latestFindings(writer)
  if (found === null)
    return {
      kind: 'failed',
      reason: 'agent_error',
      code: 'nothing_analyzed',
      message: 'There is no analysis to explain.',
      phase: 'agent',
    }
  const { message, findings } = found.tool_output
  const response = await questionSenderOfRun(context, secrets)(explainQuestion(message, findings, run.turn))
  const text = explanationOf(response)
  if (control.signal.aborted) return { kind: 'stop' }
  const about = found.tool_input.agent_run_id ?? null
  const shown = new Set(
    findings.flatMap(({ agent_run_id, agent_run_ids }) => [agent_run_id, ...agent_run_ids]),
  )
  if (about !== null) shown.add(about)
  const named =
    text === null ? [] : namedEntries(text, about).filter(({ agent_run_id }) => shown.has(agent_run_id))
  const known = await knownEntries(deps.db, run.organization_id, named)
  const explanation = text === null ? null : linked(text, about, known, deps.base_url)
  const answer = {
    text: await writer.redactor.text(resultText(message, findings, explanation)),
    thought: null,
  }
  return completed(answer, { explanation_missing: text === null && response.kind !== 'not_asked' })
}

/** Reads the newest findings of the run. */
async function latestFindings(writer: RunWriter): Promise<AnalysisResult | null> {
  const filter = { message_type: ['ACTION'], tool_name: [actionTool.log_analysis] }
  const { rows } = await findEntries(writer.db, writer.organization_id, writer.run_id, filter, {
    skip: 0,
    limit: 1,
    reverse: true,
  })
  return rows[0] ? storedJson<AnalysisResult>(rows[0].body) : null
}
