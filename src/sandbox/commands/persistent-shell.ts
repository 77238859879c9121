import { closeSync, constants, openSync } from 'node:fs'
import { writePipeLine } from '../../system/write-pipe-line.ts'
import type { InitProcess } from '../init-process.ts'
import type { PipeFolder, Slot } from './pipe-folder.ts'
import type { CommandEnd, RunningCommand } from './run-command.ts'
import { exitCode, readStatus, type StatusPipe } from './status-pipe.ts'

/** The one bash of a sandbox that keeps its directory and variables from command to command. */
type Shell = {
  /**
   * Runs the command of the slot, one at a time. A shell that has ended or never ran is started first, in
   * /workspace.
   */
  run(slot: Slot): Promise<RunningCommand>
  close(): void
}

/** One bash. `waiting` is resolved with the result of the running command. */
type Process = {
  slot: Slot
  requests: number
  status: StatusPipe
  alive: boolean
  waiting?: (line: string | null) => void
}

/**
 * Returns the shell that runs the commands of a sandbox one after another. One that a command has ended is
 * replaced by the next command.
 */
export function createShell(init: InitProcess, pipes: PipeFolder): Shell {
  let current: Process | undefined

  const end = (process: Process) => {
    if (!process.alive) return
    process.alive = false
    if (current === process) current = undefined
    // If it outlives its keeper, it reads the end of its requests and exits.
    closeSync(process.requests)
    process.status.discard()
    pipes.leaveOpen(process.slot, [process.status])
    process.waiting?.(null)
  }

  const start = (slot: Slot) => {
    const status = readStatus(slot.path('status'), line => {
      process.waiting?.(line)
      if (exitCode(line, 'exit') !== null) end(process)
    })
    // Opened for reading too: the shell sees no end of its requests while this process lives.
    const requests = openSync(slot.path('requests'), constants.O_RDWR | constants.O_NONBLOCK)
    const process: Process = { slot, requests, status, alive: true }
    status.ended.then(() => end(process))
    init.send(`shell ${slot.name}`)
    return process
  }

  return {
    async run(slot) {
      // It may have been killed since, and its keeper with it: the end of the pipe reports that immediately.
      if (current?.status.drain()) end(current)
      const process = current ?? start(await pipes.takeSlot())
      current = process
      const { promise: finished, resolve } = Promise.withResolvers<CommandEnd>()
      process.status.expectMore()
      process.waiting = line => {
        if (line === null) return resolve({ exit_code: null, shell_ended: true })
        const exit_code = exitCode(line, slot.name)
        if (exit_code !== null) return resolve({ exit_code, shell_ended: false })
        const shell_exit_code = exitCode(line, 'exit')
        if (shell_exit_code !== null) resolve({ exit_code: shell_exit_code, shell_ended: true })
      }
      writePipeLine(process.requests, requestLine(slot, process.slot.name))
      return { job: 'shell', finished, wasKilled: () => end(process) }
    },
    close() {
      if (current) end(current)
    },
  }
}

/**
 * The line that the shell reads and runs. One line at top level, neither a loop nor a function, so that
 * `break`, `return` and `declare` of the agent mean what they mean in any script; `|| :` because the agent
 * may have run `set -e`. Descriptor 9, the shell's own end of its status pipe, is closed for child processes.
 * A command that is not followed by its mark is not complete: a message is shown instead.
 */
function requestLine({ name, command_end }: Slot, shell: string): string {
  const at = '/run/exec'
  const read = `{ IFS= builtin read -r -d '' __command && IFS= builtin read -r -d '' __end; } <${at}/${name}.command || :`
  const check = `[[ $__end == ${command_end} ]] || __command='builtin echo "bash: the command is incomplete"; (exit 126)'`
  const run = `{ builtin eval -- "$__command"; } </dev/null >|${at}/${name}.output 2>&1 9>&-`
  return `LINENO=0; ${read}; ${check}; ${run}; builtin echo ${name} $? >|${at}/${shell}.status`
}
