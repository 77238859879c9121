import type { RunRow } from '../../store/runs/runs.ts'
import type { Opened } from '../claim/close-files.ts'
import type { Control } from '../claim/control.ts'
import type { Heartbeat } from '../claim/heartbeat.ts'
import type { LiveChannel } from '../claim/live-channel.ts'
import type { RunWriter } from '../claim/run-writer.ts'
import type { StartupTimer } from '../claim/startup-timer.ts'
import type { WorkerDeps } from '../settings.ts'
import type { End } from './end-turn.ts'
import type { ObservedTurn } from './observe-turn.ts'

/** A turn of a claimed run and what it works with. `opened`: the files that it opened, which whoever started it closes. */
export type TurnOf = {
  deps: WorkerDeps
  writer: RunWriter
  live: LiveChannel
  run: RunRow
  control: Control
  beat: Heartbeat
  opened: Opened
  observed: ObservedTurn
  startup: StartupTimer
}

/** What is done in a turn, to its end. Nothing of the end is written; a rejection becomes one. */
export type Turn = (of: TurnOf) => Promise<End>
