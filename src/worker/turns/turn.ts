import type { TurnOutcome } from '../../core/runs/outcome.ts'
import type { Hub } from '../../live/hub.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { BaseDeps } from '../base/base.ts'
import type { Control } from '../claim/control.ts'
import type { Heartbeat } from '../claim/heartbeat.ts'
import type { LeaseKeeper } from '../claim/lease-keeper.ts'
import type { LiveChannel } from '../claim/live-channel.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { StartupTimer } from '../claim/startup-timer.ts'
import type { InstalledPrograms } from '../sandbox/installed-programs.ts'
import type { OrganizationModels, WorkerServices } from '../services.ts'
import type { OpenedWorkspace } from '../workspace/close-workspace.ts'
import type { WorkspaceDeps } from '../workspace/opening.ts'
import type { ChildRuns } from './child-runs.ts'
import type { ObservedTurn } from './observe-turn.ts'

/** `children`: starts and lists child runs; `programs`: lists those of the sandboxes of this process. */
type TurnDeps = BaseDeps &
  WorkspaceDeps &
  Pick<
    WorkerServices,
    | 'agents'
    | 'author'
    | 'ceilings'
    | 'turn_wall_seconds'
    | 'ci_wait_seconds'
    | 'ci_first_seconds'
    | 'ci_poll_seconds'
    | 'setup_ms'
    | 'tool_seconds'
    | 'base_url'
    | 'renewSignIn'
    | 'models'
    | 'model_timeouts'
    | 'compact_tokens'
    | 'approve_ci_changes'
    | 'review'
    | 'sealer'
    | 'known_values'
    | 'telemetry'
    | 'queue_seconds'
    | 'answer_seconds'
    | 'max_losses'
  > & { hub: Hub; children: ChildRuns; programs: InstalledPrograms }

/** Before a run is claimed its organization, and so its models, are unknown. */
export type ClaimDeps = Omit<TurnDeps, 'models'> & {
  organizationModels: OrganizationModels
  leases: LeaseKeeper
}

/**
 * A turn of a claimed run and what it works with. `opened`: the files that it opened, which the caller
 * closes.
 */
export type TurnOf = {
  deps: TurnDeps
  writer: RunWriter
  live: LiveChannel
  run: RunRow
  control: Control
  heartbeat: Heartbeat
  opened: OpenedWorkspace
  observed: ObservedTurn
  startup: StartupTimer
}

/** Executes a turn and returns its outcome without writing it; a rejection becomes one too. */
export type Turn = (of: TurnOf) => Promise<TurnOutcome>
