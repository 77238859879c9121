import { type ChildProcess, spawn } from 'node:child_process'
import { closeSync, openSync, readFileSync, writeFileSync } from 'node:fs'
import type { Duplex, Readable, Writable } from 'node:stream'
import { MAX_UNREDACTED_CHARS } from '../../core/text/truncate.ts'
import { settledWithin } from '../../core/timeout.ts'
import { processIdentity } from '../../system/process-identity.ts'
import { isAlive, signalProcess, waitUntil } from '../../system/processes.ts'
import type { SystemUser } from '../../system/users.ts'
import { splitLines } from '../commands/status-pipe.ts'
import type { SandboxSpec } from '../port.ts'
import { openPorts } from '../process/open-ports.ts'
import type { RuntimeFolder } from '../process/runtime-folder.ts'
import type { SandboxProcess } from '../process/sandbox-process.ts'
import type { Watchdog } from '../process/watchdog.ts'
import { no_usage, type ResourceControl, type ResourceGroup } from '../resources/bounds.ts'
import { enterLayer } from '../workspaces/layer.ts'
import { bubblewrapArguments, descriptors, initCommand, portsOf } from './bubblewrap-arguments.ts'

/** The settings with which a driver starts its sandboxes. `user` is null without root. */
export type SandboxHost = {
  start_timeout_ms: number
  runtime: RuntimeFolder
  resources: ResourceControl
  user: SystemUser | null
  node_path: string
  bwrap_path: string
  watchdog: Watchdog
}

const kill_grace_ms = 3_000

/**
 * Starts bubblewrap with an empty environment and nothing but "--args" and the script's name on its command
 * line.
 */
export function spawnBubblewrap(spec: SandboxSpec, pipes: string, host: SandboxHost): SandboxProcess {
  const seccomp = openSync(host.runtime.seccomp, 'r')
  const [program = '', ...before] = [...(spec.within ? enterLayer(spec.within) : []), host.bwrap_path]
  const child = spawn(
    program,
    [...before, '--args', String(descriptors.arguments), '--', ...initCommand(spec)],
    {
      cwd: '/',
      env: {},
      // In its own session: a signal of the terminal is for the service, which lets running commands end.
      // `--die-with-parent` is unaffected.
      detached: true,
      stdio: [
        'ignore',
        'ignore',
        'pipe',
        'pipe',
        'pipe',
        'pipe',
        seccomp,
        ...(portsOf(spec.sockets).length > 0 ? ['ipc' as const] : []),
      ],
      ...(host.user ? { uid: host.user.uid, gid: host.user.gid } : {}),
    },
  )
  closeSync(seccomp)

  const end = watchEnd(child)
  const innerPid = watchInfo(child, pid => {
    preferWhenMemoryEnds(pid)
    void end.ended.then(host.watchdog.watch(pid))
  })
  const list = child.stdio[descriptors.arguments] as Writable
  const control = child.stdio[descriptors.control] as Duplex
  // A bubblewrap that died closes them at any moment; `ended` reports it.
  for (const stream of [list, control]) stream.on('error', () => {})
  let group: ResourceGroup | null = null
  const begin = async () => {
    const { limits } = spec
    group = host.resources.open({ ...limits, max_processes: limits.max_processes + RESERVE })
    // It is waiting for its arguments, so it has started nothing yet.
    if (child.pid !== undefined) await group.add(child.pid)
    list.end(bubblewrapArguments(spec, host.runtime, pipes, host.node_path).join('\0'))
  }
  begin().catch(error => {
    if (!child.kill('SIGKILL')) return
    end.complain(`the limits of a sandbox cannot be set: ${error instanceof Error ? error.message : error}`)
  })
  void end.ended.then(() => group?.close())

  let stopped: Promise<void> | undefined
  return {
    send: line => void control.write(`${line}\n`),
    listen: on_line => void control.on('data', splitLines(on_line)),
    ports: openPorts(child, spec.sockets ?? [], host.start_timeout_ms),
    usage: () => group?.usage() ?? no_usage,
    async refreshUsage() {},
    pid: innerPid,
    identity: () => processIdentity(innerPid()),
    complaint: end.complaint,
    ended: end.ended,
    stop: () => {
      stopped ??= killBubblewrap(child, innerPid(), end.ended)
      return stopped
    },
  }
}

/**
 * Collects the error output. `complaint` waits for all of it, which may arrive after the end of the process.
 */
function watchEnd(child: ChildProcess) {
  let complaint = ''
  const ended = new Promise<void>(resolve => {
    child.once('exit', () => resolve())
    child.once('error', error => {
      complaint = error.message
      resolve()
    })
  })
  // A command that never started has no output.
  const closed = new Promise<void>(resolve => {
    child.once('close', () => resolve())
    child.once('error', () => resolve())
  })
  child.stderr?.on('data', chunk => {
    complaint = (complaint + chunk).slice(0, MAX_UNREDACTED_CHARS)
  })
  return {
    ended,
    complain(text: string) {
      complaint = text
    },
    async complaint() {
      await settledWithin(closed, kill_grace_ms)
      return complaint.trim()
    },
  }
}

/**
 * Returns a function that returns the id of process 1, 0 until bubblewrap has reported it; `onPid` is called
 * with it once.
 */
function watchInfo(child: ChildProcess, onPid: (pid: number) => void): () => number {
  let info = ''
  let reported = false
  const innerPid = () => Number(/"child-pid": (\d+)/.exec(info)?.[1] ?? 0)
  ;(child.stdio[descriptors.info] as Readable).on('data', chunk => {
    info += chunk
    if (!innerPid() || reported) return
    reported = true
    onPid(innerPid())
  })
  return innerPid
}

async function killBubblewrap(child: ChildProcess, inner: number, ended: Promise<void>): Promise<void> {
  // Process 1 is killed by its own id while it is certainly still bubblewrap's child: bubblewrap then sees it
  // end, and this process sees bubblewrap end.
  if (inner && parentOf(inner) === child.pid) signalProcess(inner, 'SIGKILL')
  else child.kill('SIGKILL')
  if (await settledWithin(ended, kill_grace_ms)) return
  child.kill('SIGKILL')
  await ended
  if (inner) await waitUntil(() => !isAlive(inner), kill_grace_ms)
}

/**
 * Processes that the host starts inside come out of a reserve on top of the agent's limit; bubblewrap itself
 * needs one or two.
 */
const RESERVE = 40

function parentOf(pid: number): number | null {
  try {
    return Number(/^PPid:\s+(\d+)$/m.exec(readFileSync(`/proc/${pid}/status`, 'utf8'))?.[1])
  } catch {
    return null
  }
}

/**
 * When the machine runs out of memory, the kernel should kill processes of a sandbox rather than the
 * database. Without the permission the kernel decides alone.
 */
function preferWhenMemoryEnds(pid: number): void {
  try {
    writeFileSync(`/proc/${pid}/oom_score_adj`, '500')
  } catch {}
}
