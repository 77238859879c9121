import type { TurnOutcome } from '../../core/runs/outcome.ts'
import type { RunRow } from '../../store/runs/runs.ts'
import type { Templates } from '../base/templates.ts'
import type { Control } from '../claim/control.ts'
import type { Heartbeat } from '../claim/heartbeat.ts'
import type { LiveChannel } from '../claim/live-channel.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { StartupTimer } from '../claim/startup-timer.ts'
import type { WorkerServices } from '../services.ts'
import type { Environments } from '../setup/environments.ts'
import type { OpenedWorkspace } from '../workspace/close-workspace.ts'
import type { ObservedTurn } from './observe-turn.ts'

/**
 * A turn of a claimed run and what it works with. `opened`: the files that it opened, which the caller
 * closes.
 */
export type TurnContext = {
  deps: WorkerServices & { templates: Templates; environments: Environments }
  writer: RunWriter
  live: LiveChannel
  run: RunRow
  control: Control
  heartbeat: Heartbeat
  opened: OpenedWorkspace
  observed: ObservedTurn
  startup: StartupTimer
}

/** What a process works with: the organization of a run, and so its models, are known once it is claimed. */
export type ProcessServices = Omit<TurnContext['deps'], 'models'>

/** Executes a turn and returns its outcome without writing it; a rejection becomes one too. */
export type Turn = (context: TurnContext) => Promise<TurnOutcome>
