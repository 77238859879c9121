import type { InitProcess } from '../init-process.ts'
import type { Slot } from './pipe-folder.ts'
import type { RunningCommand } from './run-command.ts'
import { exitCode, readStatus } from './status-pipe.ts'

/**
 * Where a separate command reads its standard input: nowhere, in the input file of its slot, or in a pipe
 * that the host has opened.
 */
type Streams = { input: 'none' | 'file' | 'pipe'; errors: boolean }
const input_kinds = { file: 'input', pipe: 'requests' } as const

/** Starts the command of the slot as a separate process of process 1. */
export function startSeparate(init: InitProcess, slot: Slot, { input, errors }: Streams): RunningCommand {
  const { promise, resolve } = Promise.withResolvers<number | null>()
  const status = readStatus(slot.path('status'), line => resolve(exitCode(line, 'exit')))
  status.ended.then(() => resolve(null))
  const stdin = input === 'none' ? '-' : `${slot.name}.${input_kinds[input]}`
  init.send(`run ${slot.name} ${stdin} ${errors ? `${slot.name}.errors` : '-'} ${slot.command_end}`)
  return {
    job: slot.name,
    status,
    finished: promise.then(exit_code => ({ exit_code, shell_ended: false })),
    wasKilled() {},
    single_use: input === 'pipe',
  }
}
