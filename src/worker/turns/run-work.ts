import { isDatabaseAway } from '../../core/database-away.ts'
import { errorText, type Log, logWith } from '../../core/log.ts'
import { LEASE_SECONDS } from '../../core/runs/after-lost-worker.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import { retryWhileUnavailable } from '../../store/transaction-retry.ts'
import { closeFiles, FINISH_MS, type Opened } from '../claim/close-files.ts'
import type { Control } from '../claim/control.ts'
import { FencedError } from '../claim/fencing.ts'
import { startHeartbeat } from '../claim/heartbeat.ts'
import { LiveChannel } from '../claim/live-channel.ts'
import { publishRunStarted } from '../claim/publish-run-started.ts'
import { RunWriter } from '../claim/run-writer.ts'
import { StartupTimer } from '../claim/startup-timer.ts'
import { giveSpaceBack, namedDiskFull } from '../sandbox/disk-full.ts'
import type { WorkerDeps } from '../settings.ts'
import { agentTurn } from './agent-turn.ts'
import { analysisTurn } from './analysis-turn.ts'
import { endOf } from './end-of.ts'
import { type End, endTurn } from './end-turn.ts'
import { observeTurn } from './observe-turn.ts'
import { setupTurn } from './setup-turn.ts'
import type { Turn } from './turn.ts'

/** Runs that do something else than what their prompt says. */
const turns: Partial<Record<RunRow['source_type'], Turn>> = { LOG_ANALYSIS: analysisTurn, SETUP_COMMANDS: setupTurn }

/** `asked_at`: when the claim began, by `performance.now()`. Works on a claimed run until its turn ends, one way or another. Never rejects: whatever happens becomes an end that the trace shows. */
export async function workOnRun(shared: WorkerDeps, run: RunRow, control: Control, asked_at: number): Promise<void> {
  const { id: run_id, organization_id, epoch, owner } = run
  const written: Log = (level, message, fields) => shared.log(level, message, fields && writer.redactor.small(fields))
  const log = logWith(written, { run_id, organization_id, epoch, owner })
  // A database that is away for a moment holds a run up; one that is away for as long as the lease lasts costs its owner the run.
  let patient_until = Number.POSITIVE_INFINITY
  const deps = { ...shared, log, db: retryWhileUnavailable(shared.db, () => control.lost || performance.now() > patient_until) }
  // A tool that is cut short is closed by the time the end is written.
  let running_tool: string | null = null
  control.signal.addEventListener('abort', () => {
    running_tool = live.tool?.name ?? null
    patient_until = Math.min(patient_until, performance.now() + LEASE_SECONDS * 1_000)
  })
  const writer = new RunWriter(deps.db, run, shared.db)
  const live = new LiveChannel(writer)
  const startup = new StartupTimer(deps, run, asked_at)
  const observed = observeTurn(deps.telemetry, run, startup)
  log('info', 'run claimed', { turn: run.turn, phase: run.phase, recovered: run.recovery_cause })
  const beat = startHeartbeat(writer, live, deps.hub, control)
  const work = turns[run.source_type] ?? agentTurn
  const opened: Opened = { current: null, ended: false }
  let end: End
  try {
    await publishRunStarted(deps, run)
    end = endedFor(run, await work({ deps, writer, live, run, control, beat, opened, observed, startup }))
  } catch (error) {
    beat.expire()
    end = endedFor(run, endOf(error, control))
    if (end.kind === 'lost' && isDatabaseAway(error)) log('error', 'the database is away: the run is let go', { error: errorText(error) })
    if (end.kind === 'failed' && end.code === 'internal') log('error', 'run failed inside', { error: errorText(error) })
  }
  opened.ended = true
  patient_until = performance.now() + FINISH_MS
  await closeFiles(opened, end)
  patient_until = performance.now() + LEASE_SECONDS * 1_000
  await beat.stop()
  await writeEnd(deps, writer, run, end.kind === 'failed' ? { ...end, tool_name: end.tool_name ?? running_tool } : end)
  await giveSpaceBack(deps, run, end).catch(error => log('error', 'the files of a run could not be removed', { error: errorText(error) }))
  live.close()
  writer.close()
  // Whoever goes on with it knows what its start took in all.
  if (end.kind !== 'shutdown' && end.kind !== 'lost' && end.kind !== 'sandbox_lost') void startup.write()
  observed.ended(end)
  log('info', 'turn ended', { end: end.kind, reason: 'reason' in end ? end.reason : null })
}

/** A tool call cannot be resumed, so what would pause it fails it. */
function endedFor(run: RunRow, end: End): End {
  if (run.source_type !== 'TOOL' || end.kind !== 'paused') return namedDiskFull(end)
  const { reason, message } = end
  return { kind: 'failed', reason: reason === 'budget' ? 'timeout' : 'lost', code: reason, message, phase: 'agent' }
}

/** An end that cannot be written is a failure of ours, said at once; when the database is away, the next owner of the run writes it. */
async function writeEnd(deps: WorkerDeps, writer: RunWriter, run: RunRow, end: End): Promise<void> {
  const failure: End = {
    kind: 'failed',
    reason: 'agent_error',
    code: 'internal',
    message: 'The end of the turn could not be written.',
    phase: 'agent',
  }
  for (const attempt of [end, failure]) {
    try {
      return await endTurn(deps, writer, run, attempt)
    } catch (error) {
      if (error instanceof FencedError || isDatabaseAway(error)) return
      deps.log('error', 'the end of a turn could not be written', { end: attempt.kind, error: errorText(error) })
    }
  }
}
