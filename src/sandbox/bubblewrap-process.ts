import { spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import type { Duplex, Readable, Writable } from 'node:stream'
import { processIdentity } from '../system/process-identity.ts'
import { isAlive, signalProcess, waitUntil } from '../system/processes.ts'
import type { SystemUser } from '../system/users.ts'
import { bubblewrapArguments, descriptors, initCommand } from './bubblewrap-arguments.ts'
import type { SandboxSpec } from './port.ts'
import type { RuntimeFolder } from './runtime-folder.ts'
import { within } from './within.ts'

/** What a driver starts its sandboxes with. `user` is null when we are not root. */
export type SandboxHost = {
  start_timeout_ms: number
  runtime: RuntimeFolder
  user: SystemUser | null
  node_path: string
  bwrap_path: string
}

/** A running bubblewrap, whatever the process inside does. */
export type BubblewrapProcess = {
  /** Both ends of descriptor 3 of process 1. */
  readonly control: Duplex
  /** Names process 1 inside; with it everything inside ends. Null when it is gone. */
  identity(): string | null
  /** What bubblewrap said when it ended. */
  complaint(): Promise<string>
  /** Kills everything inside; resolves when the last process is gone. */
  stop(): Promise<void>
  /** Resolves when bubblewrap has ended, which it does when the last process inside has. */
  readonly ended: Promise<void>
}

const max_complaint_bytes = 2_000
const kill_grace_ms = 3_000

/** Starts bubblewrap with an empty environment and nothing but "--args" and the script's name on its command line. */
export function spawnBubblewrap(spec: SandboxSpec, pipes: string, host: SandboxHost): BubblewrapProcess {
  const seccomp = openSync(host.runtime.seccomp, 'r')
  const git_config = openSync(host.runtime.git_config, 'r')
  const child = spawn(host.bwrap_path, ['--args', String(descriptors.arguments), '--', ...initCommand(spec)], {
    cwd: '/',
    env: {},
    stdio: ['ignore', 'ignore', 'pipe', 'pipe', 'pipe', 'pipe', seccomp, git_config],
    ...(host.user ? { uid: host.user.uid, gid: host.user.gid } : {}),
  })
  closeSync(seccomp)
  closeSync(git_config)

  let complaint = ''
  const ended = new Promise<void>(resolve => {
    child.once('exit', () => resolve())
    child.once('error', error => {
      complaint = error.message
      resolve()
    })
  })
  // It may come after the end of the process; a command that was never started says nothing.
  const heard = new Promise<void>(resolve => {
    child.once('close', () => resolve())
    child.once('error', () => resolve())
  })
  child.stderr?.on('data', chunk => {
    complaint = (complaint + chunk).slice(0, max_complaint_bytes)
  })
  let info = ''
  const innerPid = () => Number(/"child-pid": (\d+)/.exec(info)?.[1] ?? 0)
  ;(child.stdio[descriptors.info] as Readable).on('data', chunk => {
    info += chunk
    if (innerPid()) preferWhenMemoryEnds(innerPid())
  })
  const list = child.stdio[descriptors.arguments] as Writable
  const control = child.stdio[descriptors.control] as Duplex
  // A bubblewrap that died closes them under our hands; `ended` tells.
  for (const stream of [list, control]) stream.on('error', () => {})
  list.end(bubblewrapArguments(spec, host.runtime, pipes, host.node_path).join('\0'))

  const stopOnce = async () => {
    const inner = innerPid()
    // Process 1 by its own id where it is certainly still bubblewrap's child: bubblewrap then sees it end and we see bubblewrap end.
    if (inner && parentOf(inner) === child.pid) signalProcess(inner, 'SIGKILL')
    else child.kill('SIGKILL')
    if (await within(ended, kill_grace_ms)) return
    child.kill('SIGKILL')
    await ended
    if (inner) await waitUntil(() => !isAlive(inner), kill_grace_ms)
  }
  let stopped: Promise<void> | undefined
  return {
    control,
    identity: () => processIdentity(innerPid()),
    async complaint() {
      await within(heard, kill_grace_ms)
      return complaint.trim()
    },
    ended,
    stop: () => {
      stopped ??= stopOnce()
      return stopped
    },
  }
}

function parentOf(pid: number): number | null {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return null
  }
}

/** Of all processes of the machine the kernel shall rather kill those inside, not the database. Where we may not say so it decides alone. */
function preferWhenMemoryEnds(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '500')
  } catch {}
}
