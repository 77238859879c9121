import { setMaxListeners } from 'node:events'
import { settledWithin } from '../../core/timeout.ts'
import type { InitProcess } from '../init-process.ts'
import { SandboxError, type SandboxLimits, SandboxLostError } from '../port.ts'
import type { SandboxProcess } from './sandbox-process.ts'

/** Returns the limits as parameters of process 1, in the units of bash's `ulimit`. */
export function initParameters({
  max_processes,
  max_file_bytes,
  max_process_bytes,
  niceness = 10,
}: SandboxLimits): string[] {
  const kib = (bytes: number) => Math.max(1, Math.floor(bytes / 1024))
  const address_space = max_process_bytes === null ? 'unlimited' : kib(max_process_bytes)
  return [max_processes, kib(max_file_bytes), address_space, niceness].map(String)
}

/** Long, because a fork bomb keeps the machine busy until it is found. */
const REPLY_TIMEOUT_MS = 10_000

/**
 * Waits until process 1 is ready. Rejects with SandboxError, with the driver's own message if there is one,
 * and leaves nothing running.
 */
export async function startInit(started: SandboxProcess, timeout_ms: number): Promise<InitProcess> {
  const waiting = new Map<string, () => void>()
  const reply = (line: string) => new Promise<void>(resolve => waiting.set(line, resolve))
  const ready = reply('ready').then(() => true)
  started.listen(line => waiting.get(line)?.())
  const over = started.ended.then(() => false)
  const known = Promise.race([ready, over])
  if (!(await settledWithin(known, timeout_ms)) || !(await known)) {
    await started.stop()
    throw new SandboxError(
      (await started.complaint()) ||
        `the sandbox was started, but nothing ran inside within ${timeout_ms / 1000} s`,
    )
  }
  return connect(started, reply)
}

function connect(started: SandboxProcess, reply: (line: string) => Promise<void>): InitProcess {
  const ready_at = performance.now()
  const lost = new AbortController()
  setMaxListeners(0, lost.signal)
  const ended = started.ended.then(() => lost.abort())
  return {
    identity: started.identity(),
    pid: started.pid(),
    usage: started.usage,
    refreshUsage: started.refreshUsage,
    ports: started.ports,
    send: started.send,
    async kill(job, since) {
      const killed = reply(`killed ${job}`)
      started.send(`kill ${job} ${Math.max(0, Math.floor((since - ready_at) / 10))}`)
      if (await settledWithin(Promise.race([killed, started.ended]), REPLY_TIMEOUT_MS)) return
      await started.stop()
      throw new SandboxLostError('the sandbox no longer responded and was ended')
    },
    stop: started.stop,
    complaint: started.complaint,
    ended,
    lost: lost.signal,
  }
}
