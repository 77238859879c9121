import { rebuildConversation } from '../../agent/conversation.ts'
import { default_setup, type FoundSetupCommands } from '../../contract/repositories/setup-commands.ts'
import { completionOf } from '../../core/runs/completion.ts'
import type { TurnOutcome } from '../../core/runs/outcome.ts'
import type { FoundSetup } from '../../setup-detection/plan.ts'
import { findSetup } from '../../setup-detection/search.ts'
import { tooOldText } from '../../setup-detection/toolchain.ts'
import { insertAuditEntry } from '../../store/access/audit.ts'
import { holdRepository, setSetupStatus } from '../../store/access/repositories.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { getSetupCommands, saveSetupCommands } from '../../store/workspaces/setup-commands.ts'
import { prepareBase } from '../base/base.ts'
import { StartError } from '../base/start-error.ts'
import { type Identities, recordSandboxes } from '../claim/record-sandboxes.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import { openRunSecrets } from '../sandbox/run-secrets.ts'
import type { WorkerServices } from '../services.ts'
import { deliverMessages } from './loop-journal.ts'
import { questionSenderOfRun } from './question-senders.ts'
import { readJournal, recordRecovery } from './recovered-conversation.ts'
import {
  digestOf,
  type ProposalInput,
  type ProposedSetup,
  proposalEntry,
  proposeSetup,
} from './setup-proposal.ts'
import { createSetupRunner } from './setup-runner.ts'
import type { TurnContext } from './turn.ts'

const MAX_EVIDENCE = 60

/**
 * Detects how a repository is set up and verifies it, without an agent. After a crash the next worker
 * restarts, because a sandbox that was left unfinished verifies nothing. A rejection ends the turn too.
 */
export async function setupTurn(context: TurnContext): Promise<TurnOutcome> {
  const { deps, writer, live, run, control } = context
  const began = performance.now()
  if (run.sandbox !== null) await deps.driver.end(run.sandbox)
  const secrets = await openRunSecrets(deps, writer, run)
  const base = await prepareBase(deps, writer, run, control.signal)
  if (control.signal.aborted) return { kind: 'stop' }
  if (base === null)
    throw new StartError('setup_failed', 'no_repository', 'There is no repository to set up.', 'setup')
  await deliverMessages(writer)
  if (run.recovering_since !== null)
    await recordRecovery(writer, run, rebuildConversation(await readJournal(writer), run.turn))
  if (
    run.status === 'starting' &&
    !(await writer.change({ from: ['starting'], to: 'starting', phase: 'setup' }))
  )
    return { kind: 'stop' }

  const started = (identities: Identities) => recordSandboxes(deps, writer, null, identities)
  const input: ProposalInput = { deps, writer, live, run, base, secrets, started, signal: control.signal }
  const proposed = await proposeSetup(input)
  const { tree, proposal, toolchain, missing } = proposed
  const { total_logs } = await writer.append({
    entries: [proposalEntry(base.sha, proposed, performance.now() - began)],
  })

  const row = await getSetupCommands(deps.db, run.organization_id, base.repository.id)
  const variables = row?.variables ?? {}
  const runner = createSetupRunner({
    ...input,
    variables,
    known: { files: tree.files, paths: tree.paths, toolchain },
    sendQuestion: questionSenderOfRun(context, secrets),
    throwIfLeaving: () => throwIfLeaving(context),
    until: began + deps.setup_ms,
  })
  const found = await findSetup(proposal, missing, runner, tooOldText(proposal.tools, toolchain))
  if (control.signal.aborted) return { kind: 'stop' }
  if (
    run.status === 'starting' &&
    !(await writer.change({ from: ['starting'], to: 'running', phase: 'agent' }))
  )
    return { kind: 'stop' }
  const result = await resultOf(context, { found, proposed, variables, seq: total_logs, began })
  // The text is JSON, which names why nothing was proved.
  const { reason } = completionOf({ setup_verified: found.verified })
  return {
    kind: 'completed',
    text: JSON.stringify(await writer.redactor.value(result)),
    thought: thoughtOf(found),
    reason,
  }
}

function throwIfLeaving({ control }: TurnContext): void {
  if (control.leaving) control.end({ kind: 'shutdown' })
  control.signal.throwIfAborted()
}

/** `seq`: of the entry with the proposal. */
type SetupEnd = {
  found: FoundSetup
  proposed: ProposedSetup
  variables: Record<string, string>
  seq: number
  began: number
}

async function resultOf(
  context: TurnContext,
  { found, proposed, variables, seq, began }: SetupEnd,
): Promise<FoundSetupCommands> {
  const { deps, writer, run } = context
  const commands = found.plan.commands.map(({ command }) => command)
  // A person reviews what a model proposed first: it may come from a prompt injection.
  const may_save = found.verified && !found.partial && !found.plan.by_model
  const saved = may_save && (await saveFound(deps, writer, run, commands))
  const ecosystems = proposed.proposal.ecosystems.join(', ')
  const shown = {
    seq,
    what: 'proposal' as const,
    ok: proposed.missing.length === 0,
    command: '',
    from: '',
    text: ecosystems,
  }
  return {
    commands,
    verified: found.verified,
    saved,
    reason: found.reason,
    detail: found.detail,
    evidence: [shown, ...found.evidence.slice(-MAX_EVIDENCE)],
    timings: { ...found.timings, total_ms: Math.round(performance.now() - began) },
    environment_digest: digestOf(commands, variables, proposed),
  }
}

const thoughtOf = ({ verified, reason, detail }: FoundSetup) =>
  verified ? detail : `Not proved (${reason}): ${detail}`

/**
 * Saves verified commands for a repository that has no setup commands. Returns whether the repository has
 * them now: an earlier worker of the run may have saved them. Commands that people have set are not changed.
 */
async function saveFound(
  { db }: Pick<WorkerServices, 'db'>,
  writer: RunWriter,
  run: RunRow,
  commands: string[],
): Promise<boolean> {
  const { organization_id, repository_id, user_id } = run
  if (repository_id === null || commands.length === 0) return false
  return db.transaction(async tx => {
    await writer.append({}, tx)
    if (!(await holdRepository(tx, organization_id, repository_id))) return false
    const known = await getSetupCommands(tx, organization_id, repository_id)
    if (known !== undefined) return JSON.stringify(known.commands) === JSON.stringify(commands)
    await saveSetupCommands(tx, organization_id, repository_id, { ...default_setup, commands }, user_id)
    await setSetupStatus(tx, organization_id, repository_id, 'SETUP')
    await insertAuditEntry(tx, {
      organization_id,
      user_id,
      token_id: null,
      request_id: null,
      action: 'setup_commands.updated',
      target_type: 'repository',
      target_id: String(repository_id),
      detail: { commands: commands.length, agent_run_id: run.id },
    })
    return true
  })
}
