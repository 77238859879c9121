import { type Conversation, rebuildConversation } from '../../agent/conversation.ts'
import { isFirstClaim } from '../../core/runs/first-claim.ts'
import type { Model } from '../../model/port.ts'
import type { Base } from '../base/base.ts'
import { readInstructions } from '../base/instructions.ts'
import { CHECKS_REVIEWED, isOfChecks } from '../checks/await-checks.ts'
import type { AgentProgram } from '../sandbox/agent-program.ts'
import type { RunSecrets } from '../sandbox/run-secrets.ts'
import type { Setup } from '../setup/run-setup.ts'
import { openWorkspace, type Workspace } from '../workspace/workspace.ts'
import { mustRestore, mustSetUp } from '../workspace/workspace-folders.ts'
import { outcomeOfError } from './outcome-of-error.ts'
import {
  addRestoredMessage,
  addSetupFailuresMessage,
  chargeLostCalls,
  closeOpenCalls,
  estimateLostCalls,
  readJournal,
  recordRecovery,
} from './recovered-conversation.ts'
import type { TurnContext } from './turn.ts'

/**
 * `program`: what the sandbox of an agent of another vendor has in addition, or null for the built-in agent.
 */
type Parts = TurnContext & {
  model: Model
  secrets: RunSecrets
  base: Base | null
  setup: Setup | null
  program: AgentProgram | null
}

/** A turn of the agent. `openFiles` opens the workspace at the first call. */
export type AgentTurn = Parts & { openFiles(): Promise<Workspace> }

/** `started_by_checks`: the turn started because checks failed after the run had ended. */
export type BegunConversation = {
  conversation: Conversation
  instructions: Awaited<ReturnType<typeof readInstructions>>
  started_by_checks: boolean
}

/**
 * Returns a function that opens the workspace at most once. The first model call needs the conversation only:
 * the workspace opens while the model thinks, and the first tool waits for it.
 */
export function openFilesOnce(parts: Parts): () => Promise<Workspace> {
  const { deps, run, opened, control, heartbeat } = parts
  const { signal } = control
  const open = () => deps.starts.during(run.id, signal, () => openWorkspace({ ...parts, signal }))
  return async () => {
    opened.workspace ??= open().catch(error => {
      heartbeat.expire()
      control.end(outcomeOfError(error, control))
      throw error
    })
    opened.current = await opened.workspace
    // Beside the first model call, so that the first tool result need not wait for it.
    if (!parts.model.scripted) void parts.deps.programs(opened.current.sandbox)
    return opened.current
  }
}

/**
 * Rebuilds the conversation, closes what an earlier worker left open, and moves the run to `running`. Null:
 * the run was stopped or moved meanwhile.
 */
export async function beginConversation(turn: AgentTurn): Promise<BegunConversation | null> {
  const { deps, writer, run, base, setup, program } = turn
  // Files that must be restored or set up first are a part of the start, and shown as such.
  const files_first = mustRestore(deps, run) || mustSetUp(deps, run, setup, program)
  const begin = async () =>
    run.status !== 'starting' || writer.change({ from: ['starting'], to: 'running', phase: 'agent' })
  const [instructions, records, started] = await Promise.all([
    readInstructions(deps, writer, run, base),
    isFirstClaim(run) ? [] : readJournal(writer),
    files_first || begin(),
  ])
  if (!started) return null
  const conversation = rebuildConversation(records, run.turn)
  const started_by_checks = isOfChecks(run, records)
  if (started_by_checks) conversation.ending = CHECKS_REVIEWED
  if (run.recovering_since !== null) await recordRecovery(writer, run, conversation)
  conversation.open_model_calls = estimateLostCalls(conversation.open_model_calls, run.recovering_since)
  await chargeLostCalls(writer, conversation.open_model_calls)
  conversation.messages.push(...(await closeOpenCalls(writer, conversation.open_calls)))
  // The conversation is about files, so they must be the right ones.
  if (files_first) {
    const files = await turn.openFiles()
    if (!(await begin())) return null
    await addFileMessages(turn, conversation, files)
  }
  return { conversation, instructions, started_by_checks }
}

async function addFileMessages(
  { writer }: AgentTurn,
  conversation: Conversation,
  { restored, setup_failures }: Workspace,
): Promise<void> {
  // An answer about files that are lost does not count: the agent continues. An answer about files that are
  // there stays.
  if (restored !== null && !restored.up_to_date) conversation.ending = null
  if (conversation.ending === null)
    conversation.messages.push(...(await addRestoredMessage(writer, restored)))
  if (conversation.ending === null)
    conversation.messages.push(...(await addSetupFailuresMessage(writer, setup_failures)))
}
