import { setMaxListeners } from 'node:events'
import { type BubblewrapProcess, type SandboxHost, spawnBubblewrap } from './bubblewrap-process.ts'
import { SandboxError, SandboxLostError, type SandboxSpec } from './port.ts'
import { splitLines } from './status-pipe.ts'
import { within } from './within.ts'

/** Process 1 of a running sandbox, seen from the host: what inside/init.sh answers to. */
export type InitProcess = {
  readonly identity: string | null
  /** One request, without the line's end. */
  send(request: string): void
  /** Kills what `job` started since `since` (performance.now). When nothing answers it ends the sandbox and rejects with SandboxLostError. */
  kill(job: string, since: number): Promise<void>
  stop(): Promise<void>
  readonly ended: Promise<void>
  /** Aborted when it has ended: for listeners that come and go. */
  readonly lost: AbortSignal
}

/** Long, because a fork bomb keeps the machine busy until it is found. */
const answer_timeout_ms = 10_000

/** Rejects with SandboxError, in bubblewrap's own words where it has any, and leaves nothing running. */
export async function startInit(spec: SandboxSpec, pipes: string, host: SandboxHost): Promise<InitProcess> {
  const bubblewrap = spawnBubblewrap(spec, pipes, host)
  const waiting = new Map<string, () => void>()
  const answer = (line: string) => new Promise<void>(resolve => waiting.set(line, resolve))
  bubblewrap.control.on(
    'data',
    splitLines(line => waiting.get(line)?.()),
  )
  const ready = answer('ready').then(() => true)
  const over = bubblewrap.ended.then(() => false)
  const started = Promise.race([ready, over])
  if (!(await within(started, host.start_timeout_ms)) || !(await started)) {
    await bubblewrap.stop()
    throw new SandboxError(
      (await bubblewrap.complaint()) || `bubblewrap started, but nothing ran inside within ${host.start_timeout_ms / 1000} s`,
    )
  }
  return connect(bubblewrap, answer)
}

function connect(bubblewrap: BubblewrapProcess, answer: (line: string) => Promise<void>): InitProcess {
  const ready_at = performance.now()
  const lost = new AbortController()
  setMaxListeners(0, lost.signal)
  const ended = bubblewrap.ended.then(() => lost.abort())
  const send = (request: string) => {
    bubblewrap.control.write(`${request}\n`)
  }
  return {
    identity: bubblewrap.identity(),
    send,
    async kill(job, since) {
      const killed = answer(`killed ${job}`)
      send(`kill ${job} ${Math.max(0, Math.floor((since - ready_at) / 10))}`)
      if (await within(Promise.race([killed, bubblewrap.ended]), answer_timeout_ms)) return
      await bubblewrap.stop()
      throw new SandboxLostError('the sandbox no longer answered and was ended')
    },
    stop: bubblewrap.stop,
    ended,
    lost: lost.signal,
  }
}
