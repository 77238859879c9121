import { isDatabaseAway } from '../../core/database-away.ts'
import { errorText, type Log, logWith } from '../../core/log.ts'
import { LEASE_SECONDS } from '../../core/runs/lease.ts'
import type { Failure, TurnOutcome } from '../../core/runs/outcome.ts'
import { CLAIMED } from '../../store/notify.ts'
import { retryWhileUnavailable } from '../../store/retry-while-unavailable.ts'
import { reportRun } from '../../store/runs/change-run.ts'
import { lockRun, type RunRow } from '../../store/runs/runs.ts'
import type { Control } from '../claim/control.ts'
import { FencedError } from '../claim/fenced-error.ts'
import { startHeartbeat } from '../claim/heartbeat.ts'
import { LiveChannel } from '../claim/live-channel.ts'
import { RunWriter } from '../claim/run-writer.ts'
import { StartupTimer } from '../claim/startup-timer.ts'
import { giveSpaceBack, namedDiskFull } from '../sandbox/disk-full.ts'
import type { WorkerServices } from '../services.ts'
import { closeWorkspace, FINISH_MS, type OpenedWorkspace } from '../workspace/close-workspace.ts'
import { agentTurn } from './agent-turn.ts'
import { analysisTurn } from './analysis-turn.ts'
import { observeTurn } from './observe-turn.ts'
import { outcomeOfError } from './outcome-of-error.ts'
import { setupTurn } from './setup-turn.ts'
import type { ProcessServices, Turn, TurnContext } from './turn.ts'
import { writeOutcome, writeStatus } from './write-outcome.ts'

/** Runs that do something else than follow their prompt. */
const turns: Partial<Record<RunRow['source_type'], Turn>> = {
  LOG_ANALYSIS: analysisTurn,
  SETUP_COMMANDS: setupTurn,
}

/**
 * Works on a claimed run until its turn ends. Never rejects: every failure becomes an outcome in the trace.
 * `claim_began_at`: by `performance.now()`.
 */
export async function workOnRun(
  shared: ProcessServices,
  run: RunRow,
  control: Control,
  claim_began_at: number,
): Promise<void> {
  const { id: run_id, organization_id, epoch, owner } = run
  const redactedLog: Log = (level, message, fields) =>
    shared.log(level, message, fields && writer.redactor.small(fields))
  const log = logWith(redactedLog, { run_id, organization_id, epoch, owner })
  // A short outage of the database delays a run. One that lasts as long as the lease costs this worker the
  // run.
  let retry_until = Number.POSITIVE_INFINITY
  const deps = {
    ...shared,
    log,
    db: retryWhileUnavailable(shared.db, () => control.lost || performance.now() > retry_until),
  }
  // A tool that is interrupted has been closed by the time the outcome is written.
  let running_tool: string | null = null
  control.signal.addEventListener('abort', () => {
    running_tool = live.tool?.name ?? null
    retry_until = Math.min(retry_until, performance.now() + LEASE_SECONDS * 1_000)
  })
  const writer = new RunWriter(deps.db, run, shared.db)
  writer.onWritten = entries => shared.hub.written(organization_id, run_id, entries)
  const live = new LiveChannel(writer)
  const startup = new StartupTimer(deps, run, claim_began_at)
  const observed = observeTurn(deps.telemetry, run, startup)
  log('info', 'run claimed', { turn: run.turn, phase: run.phase, recovered: run.recovery_cause })
  const heartbeat = startHeartbeat(deps, writer, live, control)
  const opened: OpenedWorkspace = { current: null, ended: false }
  const outcome = await runTurn({ deps, writer, live, run, control, heartbeat, opened, observed, startup })
  opened.ended = true
  retry_until = performance.now() + FINISH_MS
  await closeWorkspace(opened, outcome)
  retry_until = performance.now() + LEASE_SECONDS * 1_000
  await heartbeat.stop()
  await endTurn(
    deps,
    writer,
    run,
    outcome.kind === 'failed' ? { ...outcome, tool_name: outcome.tool_name ?? running_tool } : outcome,
  )
  await giveSpaceBack(deps, run, outcome).catch(error =>
    log('error', 'the files of a run could not be removed', { error: errorText(error) }),
  )
  live.close()
  writer.close()
  // If another worker continues, the startup is not complete yet.
  if (!['shutdown', 'lost', 'sandbox_lost', 'killed'].includes(outcome.kind)) void startup.write()
  observed.ended(outcome)
  log('info', 'turn ended', { end: outcome.kind, reason: 'reason' in outcome ? outcome.reason : null })
}

async function runTurn(context: Omit<TurnContext, 'deps'> & { deps: ProcessServices }): Promise<TurnOutcome> {
  const { deps, run, control, heartbeat } = context
  const turn = turns[run.source_type] ?? agentTurn
  try {
    const [models] = await Promise.all([
      deps.organizationModels(deps.db, run.organization_id),
      publishRunStarted(deps, run),
    ])
    return outcomeFor(context, await turn({ ...context, deps: { ...deps, models } }))
  } catch (error) {
    heartbeat.expire()
    const outcome = outcomeFor(context, outcomeOfError(error, control))
    if (outcome.kind === 'lost' && isDatabaseAway(error))
      deps.log('error', 'the database is unavailable: the run is released', { error: errorText(error) })
    if (outcome.kind === 'failed' && outcome.code === 'internal')
      deps.log('error', 'run failed with an internal error', { error: errorText(error) })
    return outcome
  }
}

/**
 * A turn that stopped has the outcome that was requested. A tool call cannot be resumed, so a reason to pause
 * fails it.
 */
function outcomeFor(
  { run, control }: Pick<TurnContext, 'run' | 'control'>,
  of_turn: TurnOutcome,
): TurnOutcome {
  const outcome = of_turn.kind === 'stop' ? control.outcome : of_turn
  if (run.source_type !== 'TOOL' || outcome.kind !== 'paused') return namedDiskFull(outcome)
  const { reason, message } = outcome
  return {
    kind: 'failed',
    reason: reason === 'budget' ? 'timeout' : 'lost',
    code: reason,
    message,
    phase: 'agent',
  }
}

/**
 * The last barrier: an outcome that cannot be written is replaced by a plain failure with the same reason,
 * and at last by its bare status. While the database is unavailable, that is left to the next worker.
 */
async function endTurn(
  deps: ProcessServices,
  writer: RunWriter,
  run: RunRow,
  outcome: TurnOutcome,
): Promise<void> {
  const plain = plainFailure(outcome)
  const attempts = [
    () => writeOutcome(deps, writer, run, outcome),
    () => writeOutcome(deps, writer, run, plain),
    () => writeStatus(deps, writer, plain),
  ]
  for (const attempt of attempts) {
    try {
      return await attempt()
    } catch (error) {
      if (error instanceof FencedError || isDatabaseAway(error)) return
      deps.log('error', 'the end of a turn could not be written', {
        end: outcome.kind,
        error: errorText(error),
      })
    }
  }
}

/** Returns a failure without any text from outside the service. */
function plainFailure(outcome: TurnOutcome): Failure {
  const message = 'The end of the turn could not be stored as it was; the log of the service has its details.'
  if (outcome.kind === 'failed') return { ...outcome, message, tool_name: null }
  return { kind: 'failed', reason: 'agent_error', code: 'internal', message, phase: 'agent' }
}

/**
 * Publishes that a claimed run starts or continues, before any other event of it, unless another worker has
 * it by now. A transaction of its own: a claim that locked the organization's row would block all other
 * claims of the organization. Viewers announce themselves to this worker.
 */
async function publishRunStarted(
  { db }: Pick<WorkerServices, 'db'>,
  { organization_id, id, epoch, status }: RunRow,
): Promise<void> {
  await db.transaction(async tx => {
    const now = await lockRun(tx, organization_id, id)
    if (now?.epoch !== epoch || now.status !== status) return
    await reportRun(tx, now, { event: { type: 'agent_run.status', body: { status } }, live: CLAIMED })
  })
}
