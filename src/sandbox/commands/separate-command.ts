import type { InitProcess } from '../init-process.ts'
import type { Slot } from './pipe-folder.ts'
import type { RunningCommand } from './run-command.ts'
import { exitCode, readStatus } from './status-pipe.ts'

/** Starts the command of the slot as a separate process of process 1. */
export function startSeparate(init: InitProcess, slot: Slot, streams: { input: boolean; errors: boolean }): RunningCommand {
  const { promise, resolve } = Promise.withResolvers<number | null>()
  const status = readStatus(slot.path('status'), line => resolve(exitCode(line, 'exit')))
  status.ended.then(() => resolve(null))
  init.send(`run ${slot.name} ${streams.input ? `${slot.name}.input` : '-'} ${streams.errors ? `${slot.name}.errors` : '-'}`)
  return { job: slot.name, status, finished: promise.then(exit_code => ({ exit_code, shell_ended: false })), wasKilled() {} }
}
