import { type ChildProcess, spawn } from 'node:child_process'
import { fileURLToPath } from 'node:url'
import { childEnv } from '../../system/host-child-env.ts'
import { processStart } from '../../system/process-identity.ts'

/**
 * A separate process that ends the sandboxes of this one when this one is frozen: nothing else on this
 * machine may know about them.
 */
export type Watchdog = {
  /** `pid`: process 1 of a sandbox. Call the returned function when it has ended. */
  watch(pid: number): () => void
}

/** Longer than a lease: a process that was frozen for that long no longer owns a run. */
const FROZEN_SECONDS = 10
const RESTART_MS = 1_000
const script = fileURLToPath(new URL('./watchdog.sh', import.meta.url))

/**
 * Returns a watchdog, whose process is started with the first sandbox, and restarted if killed. It ends with
 * this process, and keeps no process alive.
 */
export function createWatchdog(): Watchdog {
  const watched = new Map<number, string>()
  let child: ChildProcess | null = null
  const send = (line: string) => child?.stdin?.write(`${line}\n`)

  const start = () => {
    // In its own session: signals of the terminal do not stop it.
    const started = spawn('/bin/bash', ['--noprofile', '--norc', script, String(FROZEN_SECONDS)], {
      cwd: '/',
      env: childEnv(),
      stdio: ['pipe', 'ignore', 'ignore'],
      detached: true,
    })
    const gone = () => {
      if (child === started) child = null
    }
    started.once('exit', gone)
    started.once('error', gone)
    started.stdin.on('error', () => {})
    started.unref()
    ;(started.stdin as typeof started.stdin & { unref?(): void }).unref?.()
    child = started
    for (const [pid, at] of watched) send(`+ ${pid} ${at}`)
  }
  const restart = () => {
    if (child === null && watched.size > 0) start()
  }
  setInterval(restart, RESTART_MS).unref()

  return {
    watch(pid) {
      const at = processStart(pid)
      if (at === null) return () => {}
      watched.set(pid, at)
      if (child === null) start()
      else send(`+ ${pid} ${at}`)
      return () => {
        watched.delete(pid)
        send(`- ${pid}`)
      }
    },
  }
}
