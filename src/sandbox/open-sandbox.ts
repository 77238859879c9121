import type { Sink } from './deliver-in-order.ts'
import { createGate, type Gate } from './gate.ts'
import type { InitProcess } from './init-process.ts'
import type { PipeFolder } from './pipe-folder.ts'
import { type ExecResult, type Sandbox, SandboxLostError, type SandboxSpec } from './port.ts'
import { type CommandRequest, runCommand } from './run-command.ts'
import { startSeparate } from './separate-command.ts'
import { createShell } from './shell.ts'

const max_separate_commands = 8

/** The sandbox that `init` is process 1 of. It owns both from now on. */
export function openSandbox(spec: SandboxSpec, init: InitProcess, pipes: PipeFolder): Sandbox {
  const context = { init, pipes }
  const shell = createShell(init, pipes)
  const shell_gate = createGate(1)
  const separate_gate = createGate(max_separate_commands)
  const ended = init.ended.then(() => {
    shell.close()
    pipes.remove()
  })

  const inTurn = async (gate: Gate, request: CommandRequest, run: () => Promise<ExecResult>): Promise<ExecResult> => {
    const leave = await gate.enter(request.signal)
    if (!leave) return notRun('interrupted', null)
    try {
      if (init.lost.aborted) throw new SandboxLostError('the sandbox has ended')
      // bash would run the part before it.
      if (request.command.includes('\0')) return notRun('exited', 126, 'bash: a command cannot contain a NUL byte\n')
      return await run()
    } finally {
      leave()
    }
  }
  const persistent = (request: CommandRequest) => runCommand(context, request, slot => shell.run(slot))
  const separate = (request: CommandRequest, sink?: Sink) => {
    const streams = { input: request.stdin !== undefined, errors: sink !== undefined }
    return runCommand(context, request, slot => startSeparate(init, slot, streams), sink)
  }
  const stop = async () => {
    await init.stop()
    await ended
  }

  return {
    workspace: spec.workspace,
    identity: init.identity,
    ended,
    exec: request =>
      request.shell === 'persistent'
        ? inTurn(shell_gate, request, () => persistent(request))
        : inTurn(separate_gate, request, () => separate(request)),
    stream: (request, sink) => inTurn(separate_gate, request, () => separate(request, sink)),
    stop,
    [Symbol.asyncDispose]: stop,
  }
}

function notRun(status: ExecResult['status'], exit_code: number | null, message = ''): ExecResult {
  const output = Buffer.from(message)
  return { status, exit_code, output, output_bytes: output.length, truncated: false, duration_ms: 0, shell_restarted: false }
}
