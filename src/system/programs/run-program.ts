import { type ChildProcess, fork } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { childEnv } from '../host-child-env.ts'
import type { HelperAnswer, HelperRequest } from './program-helper.ts'
import { type Command, type CommandEnd, type RunningCommand, startCommand } from './start-program.ts'

/** `requests` are the commands without an answer. */
type Helper = { process: ChildProcess; requests: Map<number, (end: CommandEnd) => void> }

const program = fileURLToPath(new URL('./program-helper.ts', import.meta.url))
let helper: Helper | undefined
let last_id = 0

/**
 * Runs a command by a small helper process, one for this process (decisions.md#commands-run-by-a-helper): a fork copies the page tables of
 * its caller. A helper that has ended is replaced by the next call; its commands end with a `start_error`.
 */
export function runCommand(command: Command): RunningCommand {
  // A descriptor is not valid in another process.
  if (typeof command.stdin === 'number') return startCommand(command)
  helper ??= startHelper()
  const { process, requests } = helper
  const id = ++last_id
  const { promise, resolve } = Promise.withResolvers<CommandEnd>()
  requests.set(id, resolve)
  process.channel?.ref()
  send(helper, { id, run: command })
  return { done: promise, stop: () => void (requests.has(id) && process.send({ id, stop: true } satisfies HelperRequest, () => {})) }
}

function startHelper(): Helper {
  const process = fork(program, { env: childEnv(), execArgv: [], serialization: 'advanced', stdio: ['ignore', 'ignore', 'inherit', 'ipc'] })
  const started: Helper = { process, requests: new Map() }
  // It does not keep this process alive, except while a command runs.
  process.unref()
  process.channel?.unref()
  process.on('message', ({ id, end }: HelperAnswer) => {
    started.requests.get(id)?.(end)
    started.requests.delete(id)
    if (started.requests.size === 0) process.channel?.unref()
  })
  process.once('error', error => giveUp(started, error.message))
  process.once('exit', () => giveUp(started, 'the process that runs commands has ended'))
  return started
}

function send(to: Helper, request: HelperRequest): void {
  to.process.send(request, error => {
    if (error) giveUp(to, error.message)
  })
}

function giveUp(given_up: Helper, start_error: string): void {
  if (helper === given_up) helper = undefined
  for (const resolve of given_up.requests.values())
    resolve({ code: null, signal: null, stdout: Buffer.alloc(0), stderr: '', stopped: null, start_error })
  given_up.requests.clear()
}
