import { setMaxListeners } from 'node:events'
import { createSemaphore, type Semaphore } from '../../core/concurrency/semaphore.ts'
import type { Sink } from '../commands/deliver-in-order.ts'
import { createShell } from '../commands/persistent-shell.ts'
import type { PipeFolder, Slot } from '../commands/pipe-folder.ts'
import { createProcessInput } from '../commands/process-input.ts'
import { type CommandRequest, runCommand } from '../commands/run-command.ts'
import { startSeparate } from '../commands/separate-command.ts'
import type { InitProcess } from '../init-process.ts'
import {
  type ExecResult,
  type OpenProcess,
  type ProcessRequest,
  type Sandbox,
  SandboxLostError,
  type SandboxSpec,
  type WorkspaceSize,
} from '../port.ts'
import { watchWorkspace } from '../resources/workspace-watch.ts'

const max_separate_commands = 8
const max_open_processes = 8

/** Returns the sandbox of `init`, its process 1. It owns both from now on. */
export function openSandbox(
  spec: SandboxSpec,
  init: InitProcess,
  pipes: PipeFolder,
  measure: () => Promise<WorkspaceSize | null>,
): Sandbox {
  const { watch, full } = watchDisk(spec, init, measure)
  const context = { init, pipes, full }
  const shell = createShell(init, pipes)
  const shell_semaphore = createSemaphore(1)
  const separate_semaphore = createSemaphore(max_separate_commands)
  // Without its ports it would not be the requested sandbox.
  init.ports.catch(() => init.stop())
  const ended = init.ended.then(() => {
    watch.end()
    shell.close()
    pipes.remove()
  })

  const inTurn = (semaphore: Semaphore, request: CommandRequest, run: () => Promise<ExecResult>) =>
    runInTurn(init, semaphore, request, run)
  const persistent = async (request: CommandRequest) => {
    await init.ports
    return runCommand(context, request, slot => shell.run(slot))
  }
  const separate = (request: CommandRequest, sink?: Sink) => {
    const streams = {
      input: request.stdin === undefined ? 'none' : 'file',
      errors: sink !== undefined,
    } as const
    return runCommand(context, request, slot => startSeparate(init, slot, streams), sink)
  }
  const processes_semaphore = createSemaphore(max_open_processes)
  const openProcess = ({ on_stdout, kills_descendants = false, ...rest }: ProcessRequest): OpenProcess => {
    const { stdin, open } = createProcessInput()
    const request = { ...rest, timeout_ms: Number.POSITIVE_INFINITY }
    const start = (slot: Slot) => {
      open(slot.path('requests'))
      return { ...startSeparate(init, slot, { input: 'pipe', errors: true }), kills_descendants }
    }
    const execution = async () => {
      await init.ports
      return runCommand(context, request, start, on_stdout)
    }
    return { stdin, ended: inTurn(processes_semaphore, request, execution).finally(() => stdin.destroy()) }
  }
  const usage = () => {
    const peak_disk_bytes = watch.peak_bytes()
    return { ...init.usage(), ...(peak_disk_bytes > 0 && { peak_disk_bytes }) }
  }
  const stop = async () => {
    await init.stop()
    await ended
  }

  return {
    workspace: spec.workspace,
    limits: spec.limits,
    identity: init.identity,
    usage,
    ended,
    exec: request =>
      request.shell === 'persistent'
        ? inTurn(shell_semaphore, request, () => persistent(request))
        : inTurn(separate_semaphore, request, () => separate(request)),
    stream: (request, sink) => inTurn(separate_semaphore, request, () => separate(request, sink)),
    openProcess,
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

/**
 * Watches the workspace. `full` is aborted, with its size, when it exceeds a limit; background processes are
 * cleared then.
 */
function watchDisk(spec: SandboxSpec, init: InitProcess, measure: () => Promise<WorkspaceSize | null>) {
  let full = newSignal()
  const cpuMs = () => init.usage().cpu_ms
  const watch = watchWorkspace(spec.workspace, spec.limits, measure, cpuMs, size => {
    full.abort(size)
    full = newSignal()
    // Background processes are cleared too: their owner is unknown.
    init.send('clear')
  })
  return { watch, full: () => full.signal }
}

/**
 * Waits for the semaphore and runs the command, unless it was aborted meanwhile. Throws SandboxLostError when
 * the sandbox has ended.
 */
async function runInTurn(
  init: InitProcess,
  semaphore: Semaphore,
  request: CommandRequest,
  run: () => Promise<ExecResult>,
): Promise<ExecResult> {
  const release = await semaphore.enter(request.signal)
  if (!release) return notRun('interrupted', null)
  try {
    if (init.lost.aborted) throw new SandboxLostError('the sandbox has ended')
    // bash would run the part before it.
    if (request.command.includes('\0'))
      return notRun('exited', 126, 'bash: a command cannot contain a NUL byte\n')
    return await run()
  } finally {
    release()
  }
}

function notRun(status: ExecResult['status'], exit_code: number | null, message = ''): ExecResult {
  const output = Buffer.from(message)
  return {
    status,
    exit_code,
    output,
    output_bytes: output.length,
    truncated: false,
    duration_ms: 0,
    shell_restarted: false,
    memory_kills: 0,
    size: null,
  }
}

/** Every running command adds a listener. */
function newSignal(): AbortController {
  const controller = new AbortController()
  setMaxListeners(0, controller.signal)
  return controller
}
