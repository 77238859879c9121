import type { Conversation } from '../../agent/conversation.ts'
import type { LoopOutcome } from '../../agent/loop.ts'
import type { Sandbox } from '../../sandbox/port.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { Base } from '../base/base.ts'
import type { Followed } from '../checks/await-checks.ts'
import type { Control } from '../claim/control.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import { publish } from '../publish/publish.ts'
import { endOfControl } from './end-of.ts'
import type { End } from './end-turn.ts'
import type { AskingDeps } from './side-question-journal.ts'

/** What comes of the loop: its answer is committed, pushed, proposed and checked, or goes back to the agent. */
export async function endOfLoop(
  deps: AskingDeps,
  writer: RunWriter,
  run: RunRow,
  base: Base | null,
  open: () => Promise<Sandbox>,
  sent_back: Conversation['sent_back'],
  follow: (answer: string) => Promise<Followed | null>,
  control: Control,
  outcome: LoopOutcome,
): Promise<End | 'sent_back' | 'interrupted'> {
  if (outcome.kind === 'stopped') return endOfControl(control)
  if (outcome.kind === 'failed') {
    if (outcome.reason === 'model_auth')
      deps.log('error', 'a model provider refuses its key: no run of this model works until it is given another', { model: run.model })
    return outcome
  }
  if (outcome.kind === 'ask') return { kind: 'waiting', approval_of: null }
  if (outcome.kind === 'limit')
    return outcome.limit.kind === 'budget'
      ? { kind: 'paused', reason: 'budget', message: outcome.limit.message }
      : { kind: 'failed', reason: outcome.limit.reason, code: outcome.limit.reason, message: outcome.limit.message, phase: 'agent' }
  const sandbox = await open()
  const answer = { text: outcome.text.trim(), thought: outcome.thought }
  if (base === null) return { kind: 'completed', ...answer }
  if (!(await writer.move({ from: ['running'], to: 'running', phase: 'push' }))) return endOfControl(control)
  const published = await publish(deps, writer, run, base, sandbox, answer.text, sent_back, control)
  if (control.signal.aborted) return endOfControl(control)
  if (published.kind === 'sent_back') return 'sent_back'
  if (published.kind === 'approval') return { kind: 'waiting', approval_of: published.head }
  if (published.kind === 'failed')
    return { ...published, phase: 'push', tool_name: published.reason === 'git_unavailable' ? 'git_push' : null }
  if (published.kind === 'refused') return { kind: 'completed', ...answer, text: `${answer.text}\n\n${published.message}` }
  if (published.kind !== 'pushed') return { kind: 'completed', ...answer }
  const followed = await follow(answer.text)
  if (control.signal.aborted || followed?.kind === 'left') return endOfControl(control)
  if (followed?.kind === 'sent_back' || followed?.kind === 'interrupted') return followed.kind
  if (followed?.kind === 'waiting') return { kind: 'waiting_for_checks', seconds: followed.seconds }
  return { kind: 'completed', ...answer, text: followed?.said ? `${answer.text}\n\n${followed.said}` : answer.text }
}
